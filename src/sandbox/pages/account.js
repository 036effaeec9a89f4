// Sends the page's forms to the control API. Pages can be read without this script.

const problem = document.getElementById('problem')

function readField(input) {
  if (input.type === 'checkbox') return input.checked
  if (input.value === '' && input.dataset.kind !== 'text') return undefined
  switch (input.dataset.kind) {
    case 'number':
      return Number(input.value)
    case 'json':
      return JSON.parse(input.value)
    case 'list':
      return input.value.split(',').map((part) => part.trim())
    default:
      return input.value
  }
}

/**
 * The JSON body of a form. A field without a name is the whole body; names ending in "[]" make
 * lists.
 */
function readBody(form) {
  const inputs = [...form.elements].filter((element) => element.matches('input, select, textarea'))
  const whole = inputs.find((input) => input.name === '')
  if (whole) return readField(whole)
  const body = {}
  for (const input of inputs) {
    if (!input.name.endsWith('[]')) body[input.name] = readField(input)
    else if (input.type !== 'checkbox' || input.checked) list(body, input.name.slice(0, -2)).push(input.value)
    else list(body, input.name.slice(0, -2))
  }
  return body
}

function list(body, name) {
  body[name] ??= []
  return body[name]
}

/** Folds the boxes of a custom scope into `scope`; other scopes ignore them. */
function composeScope(body) {
  if (body.custom === undefined) return body
  const { custom, storages, ...rest } = body
  return rest.scope === 'custom' ? { ...rest, scope: { custom, storages } } : rest
}

function composeUpload(form) {
  const [file] = form.elements.namedItem('file').files
  const path = `${form.dataset.folder.replace(/\/$/, '')}/${file.name}`
  return { path: `${form.dataset.path}?path=${encodeURIComponent(path)}`, body: file, type: 'application/octet-stream' }
}

function composeCall(form) {
  if (form.dataset.folder !== undefined) return composeUpload(form)
  const body = form.dataset.method === 'DELETE' ? undefined : JSON.stringify(composeScope(readBody(form)))
  return { path: form.dataset.path, body, type: 'application/json' }
}

async function send(form) {
  const { path, body, type } = composeCall(form)
  const headers = { 'X-Sandbox-Control': '1', 'Content-Type': type }
  const response = await fetch(path, { method: form.dataset.method, headers, body })
  const reply = await response.json()
  if (!response.ok) throw new Error(reply.error.message)
}

function show(message) {
  problem.textContent = message
  problem.hidden = false
  problem.scrollIntoView({ block: 'nearest' })
}

document.addEventListener('submit', async (event) => {
  event.preventDefault()
  const form = event.target
  const { confirm: question } = form.dataset
  if (question !== undefined && !window.confirm(question)) return
  const button = form.querySelector('button')
  button.disabled = true
  problem.hidden = true
  try {
    await send(form)
    location.reload()
  } catch (error) {
    button.disabled = false
    show(error.message)
  }
})
