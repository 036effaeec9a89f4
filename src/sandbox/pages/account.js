// Sends the page's forms to the control API. Nothing is shown by it, so reading works without.

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

/** A field without a name is the whole body. */
function readBody(form) {
  const inputs = [...form.elements].filter((element) => element.tagName !== 'BUTTON')
  const whole = inputs.find((input) => input.name === '')
  if (whole) return readField(whole)
  return Object.fromEntries(inputs.map((input) => [input.name, readField(input)]))
}

function composeUpload(form) {
  const [file] = form.elements.namedItem('file').files
  const path = `${form.dataset.folder.replace(/\/$/, '')}/${file.name}`
  return { path: `${form.dataset.path}?path=${encodeURIComponent(path)}`, body: file, type: 'application/octet-stream' }
}

function composeCall(form) {
  if (form.dataset.folder !== undefined) return composeUpload(form)
  const body = form.dataset.method === 'DELETE' ? undefined : JSON.stringify(readBody(form))
  return { path: form.dataset.path, body, type: 'application/json' }
}

async function send(form) {
  const { path, body, type } = composeCall(form)
  const headers = { 'X-Sandbox-Control': '1', 'Content-Type': type }
  const response = await fetch(path, { method: form.dataset.method, headers, body })
  const reply = await response.json()
  if (!response.ok) throw new Error(reply.error.message)
}

document.addEventListener('submit', async (event) => {
  event.preventDefault()
  try {
    await send(event.target)
    location.reload()
  } catch (error) {
    problem.textContent = error.message
    problem.hidden = false
  }
})
