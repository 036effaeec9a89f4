import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Browser, findBrowser, startBrowser, type Tab } from './browser.ts'
import { openSandbox, tempDir } from './harness.ts'

const found = findBrowser()
let browser: Browser | undefined
const label = found === undefined ? ' (skipped: no Chromium on this machine)' : ''
const inBrowser = test.skipIf(found === undefined)

beforeAll(async () => {
  if (found !== undefined) browser = await startBrowser(found)
})

afterAll(() => browser?.close())

async function open() {
  const sandbox = await openSandbox()
  const tab = await browser?.openTab()
  if (!tab) throw new Error('There is no browser.')
  return { sandbox, tab }
}

/** Fills the fields of the form that ends in a button of this name, presses it and waits for the page to come again. */
async function submit(tab: Tab, button: string, fields: Record<string, string> = {}): Promise<void> {
  const loaded = tab.nextLoad()
  await tab.evaluate(`(() => {
    const form = [...document.forms].find((form) => form.querySelector('button').textContent === ${JSON.stringify(button)})
    for (const [name, value] of Object.entries(${JSON.stringify(fields)})) form.elements.namedItem(name).value = value
    form.querySelector('button').click()
  })()`)
  await loaded
}

inBrowser(`creates, edits and revokes a key${label}`, async () => {
  const { sandbox, tab } = await open()
  await tab.goTo(`${sandbox.origin}/account/keys`)
  await submit(tab, 'Generate', { name: 'made by hand', scope: 'read-only' })
  expect(sandbox.keys.list()).toMatchObject([{ name: 'made by hand', scope: 'read-only' }])
  expect(await tab.evaluate('document.querySelector("tbody").textContent')).toContain('made by hand')
  await submit(tab, 'Revoke')
  expect(sandbox.keys.list()).toMatchObject([{ revokedAt: expect.any(String) }])
  expect(tab.complaints).toEqual([])
})

inBrowser(`uploads, transfers and deletes a file${label}`, async () => {
  const { sandbox, tab } = await open()
  const local = join(tempDir(), 'from my desk.txt')
  writeFileSync(local, 'uploaded')
  await tab.goTo(`${sandbox.origin}/account/storages/storage_a`)
  const { root } = await tab.send<{ root: { nodeId: number } }>('DOM.getDocument')
  const selector = 'input[type=file]'
  const { nodeId } = await tab.send<{ nodeId: number }>('DOM.querySelector', { nodeId: root.nodeId, selector })
  await tab.send('DOM.setFileInputFiles', { nodeId, files: [local] })
  await submit(tab, 'Upload here')
  expect((await sandbox.storage('storage_a').read('/from my desk.txt')).toString()).toBe('uploaded')
  await submit(tab, 'Transfer', { to: '["storage_b","/archive/"]' })
  await sandbox.clock.advance(0)
  await expect.poll(() => sandbox.events.list({ type: 'transfer.completed' }).length).toBe(1)
  await submit(tab, 'Delete')
  expect(sandbox.storage('storage_a').list()).toEqual([])
  expect(tab.complaints).toEqual([])
})

inBrowser(`changes settings, moves the clock and sets a fault${label}`, async () => {
  const { sandbox, tab } = await open()
  const before = sandbox.clock.now()
  await tab.goTo(`${sandbox.origin}/account`)
  await submit(tab, 'Save settings', { plan: 'pro', form: 'mixed' })
  expect(sandbox.settings.get()).toMatchObject({ plan: 'pro', form: 'mixed', pagination: true, hostileIds: false })
  await submit(tab, 'Advance', { by: '2h' })
  expect(sandbox.clock.now()).toBe(before + 7_200_000)
  await tab.goTo(`${sandbox.origin}/account/faults`)
  await submit(tab, 'Set', { on: 'files.list', status: '503', times: '2' })
  expect(sandbox.faults.list()).toMatchObject([{ on: 'files.list', status: 503, times: 2 }])
  expect(tab.complaints).toEqual([])
})

inBrowser(`says on the page what the control API refused${label}`, async () => {
  const { sandbox, tab } = await open()
  await tab.goTo(`${sandbox.origin}/account`)
  await tab.evaluate(`(() => {
    document.querySelector('[name=by]').value = 'soon'
    document.querySelector('[name=by]').form.querySelector('button').click()
  })()`)
  const problem = () => tab.evaluate<string>('document.getElementById("problem").textContent')
  await expect.poll(problem).toContain('"soon" is not a duration')
})

inBrowser(`runs nothing that hides in a name${label}`, async () => {
  const { sandbox, tab } = await open()
  const nasty = `<img src=x onerror=alert(1)>"'&`
  await sandbox.keys.create({ name: nasty })
  await sandbox.storage('storage_a').put(`/${nasty}`, 'x')
  sandbox.events.emit(nasty, { nasty: `</pre><script>alert(1)</script>${nasty}` })
  for (const page of ['keys', 'storages', 'deliveries', `events/${sandbox.events.list().at(-1)?.id}`]) {
    await tab.goTo(`${sandbox.origin}/account/${page}`)
    expect(await tab.evaluate('document.images.length + document.querySelectorAll("script:not([src])").length')).toBe(0)
  }
  expect(tab.complaints).toEqual([])
})

inBrowser(`reads without JavaScript${label}`, async () => {
  const { sandbox, tab } = await open()
  await sandbox.storage('storage_a').put('/plain.txt', 'x')
  await tab.send('Emulation.setScriptExecutionDisabled', { value: true })
  await tab.goTo(`${sandbox.origin}/account/storages`)
  expect(await tab.markup()).toContain('plain.txt')
})
