import { expect } from 'vitest'
import type { Sandbox } from '../../../src/sandbox/index.ts'
import { html } from '../../../src/sandbox/pages/html.ts'
import { TABS } from '../../../src/sandbox/pages/layout.ts'
import { call, control } from '../support/call.ts'
import { openReceiver } from '../support/open-receiver.ts'
import { openSandbox, test } from '../support/open-sandbox.ts'

async function read(sandbox: Sandbox, path: string) {
  const response = await fetch(sandbox.origin + path)
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** A name that breaks out of markup which does not escape it. */
const NASTY = `<img src=x onerror=alert(1)>"'&`

async function openBusySandbox() {
  const sandbox = await openSandbox({ retryScheduleMs: [] })
  const receiver = await openReceiver()
  const key = await sandbox.keys.create({ name: NASTY })
  const webhook = await sandbox.webhooks.add({
    url: `${receiver.url}?note=${encodeURIComponent(NASTY)}`,
    events: ['*', NASTY],
  })
  await sandbox.storage('storage_a').put(`/in/${NASTY.replace('/', '')}.txt`, 'content')
  await sandbox.storage('storage_a').put('/report.pdf', 'content')
  await (await sandbox.transfers.start({ from: ['storage_a', '/report.pdf'], to: ['storage_b', `/${NASTY}/`] })).done
  await sandbox.faults.add({ on: 'delivery', drop: true, type: NASTY })
  const event = sandbox.events.emit(NASTY, { text: `</pre>${NASTY}` })
  await call(sandbox, '/files?service=storage_a', { key: key.key })
  await sandbox.deliveries.until({ state: 'delivered', count: 4 })
  await sandbox.clock.advance(0)
  const pages = [
    ...Object.keys(TABS),
    `/account/keys/${key.id}`,
    `/account/events/${event.id}`,
    '/account/storages/storage_a?path=/in',
  ]
  return { sandbox, key, webhook, pages }
}

test('every account page is plain HTML under a strict policy', async () => {
  const { sandbox, pages } = await openBusySandbox()
  for (const page of pages) {
    const { status, headers, text } = await read(sandbox, page)
    expect([page, status]).toEqual([page, 200])
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(headers.get('content-security-policy')).not.toContain('unsafe')
    expect(text).not.toMatch(/<script(?![^>]*src="\/account\/account.js")|href="javascript:/i)
    expect(text.replace(/"[^"]*"/g, '""')).not.toMatch(/<[^>]*\s(on\w+|style)=/i)
  }
})

test('no name, address, type or payload becomes markup', async () => {
  const { sandbox, pages } = await openBusySandbox()
  let seen = 0
  for (const page of pages) {
    const { text } = await read(sandbox, page)
    expect(text).not.toContain('<img')
    if (text.includes('&lt;img src=x onerror=alert(1)&gt;')) seen++
  }
  expect(seen).toBeGreaterThanOrEqual(7)
})

/** Characters that steer text: marks and overrides of direction. */
const STEERING = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/

/** Shown as "invoiceexe.pdf" by a page that lets it steer. */
const REVERSED = 'invoice\u202Efdp.exe'

test('a name that turns the direction of text steers nothing on any page, and its character is shown', async () => {
  const sandbox = await openSandbox({ retryScheduleMs: [] })
  const receiver = await openReceiver()
  await sandbox.webhooks.add({ url: `${receiver.url}/${REVERSED}`, events: ['*', REVERSED] })
  const key = await sandbox.keys.create({ name: REVERSED })
  await sandbox.storage('storage_a').put(`/${REVERSED}/${REVERSED}`, 'x')
  const path = `/${REVERSED}/${REVERSED}`
  await (await sandbox.transfers.start({ from: ['storage_a', path], to: ['storage_b', '/'] })).done
  await sandbox.faults.add({ on: 'delivery', drop: true, type: REVERSED })
  const event = sandbox.events.emit(REVERSED, { [REVERSED]: REVERSED })
  const pages = [
    'keys',
    `keys/${key.id}`,
    'webhooks',
    'deliveries',
    `events/${event.id}`,
    'storages',
    `storages/storage_a?path=${encodeURIComponent(`/${REVERSED}`)}`,
    'transfers',
    'faults',
  ]
  for (const page of pages) {
    const { text } = await read(sandbox, `/account/${page}`)
    // A field must send what is there; questions are text, in which a name has its own isolate.
    const shown = text.replace(/ (?:value|data-folder|data-confirm)="[^"]*"/g, '')
    expect([page, STEERING.exec(shown)?.index]).toEqual([page, undefined])
    expect([page, /U\+202E|\\u202e/.test(shown)]).toEqual([page, true])
    const questions = [...text.matchAll(/ data-confirm="([^"]*)"/g)].map(([, question]) => question)
    expect(questions.filter((question) => /\u202E/.test(question ?? ''))).toEqual([])
  }
  expect((await read(sandbox, '/account/storages')).text).toContain('<bdi>invoice')
})

test('of two names that look alike, a page shows the character that nobody sees', async ({ sandbox }) => {
  const emoji = '👨‍👩‍👧'
  for (const name of ['a\u200Bb', 'a\u00A0b', 'a b', emoji]) await sandbox.storage('storage_a').put(`/in/${name}`, 'x')
  const { text } = await read(sandbox, '/account/storages/storage_a?path=/in')
  for (const mark of ['U+200B', 'U+00A0']) expect(text).toContain(`>${mark}</span>b`)
  expect(text).toContain(emoji)
  expect(text).not.toContain('U+200D')
})

test('a fault that struck as often as it was to is shown as used up, another one as set', async ({ sandbox }) => {
  const { key } = await sandbox.keys.create({ name: 'app' })
  await sandbox.faults.add({ on: 'files.list', status: 503, times: 1 })
  const states = async () => [...(await read(sandbox, '/account/faults')).text.matchAll(/data-state="\w+">([^<]+)</g)]
  expect((await states()).map(([, state]) => state)).toEqual(['set'])
  expect((await call(sandbox, '/files?service=storage_a', { key })).status).toBe(503)
  expect((await states()).map(([, state]) => state)).toEqual(['used up'])
})

test('every form calls a path of the control API', async () => {
  const { sandbox, pages } = await openBusySandbox()
  const forms = new Set<string>()
  for (const page of pages) {
    const { text } = await read(sandbox, page)
    for (const [, method, path] of text.matchAll(/<form data-method="(\w+)" data-path="([^"]+)"/g))
      forms.add(`${method} ${path?.replaceAll('&amp;', '&')}`)
  }
  expect(forms.size).toBeGreaterThan(10)
  for (const form of forms) {
    const [method = '', path = ''] = form.split(' ')
    const { body } = await control(sandbox, method, path.replace('/_sandbox', ''), {})
    expect([form, body.error?.message]).not.toEqual([form, 'The control API has no such path.'])
  }
})

test('the links in file details lead to pages', async () => {
  const { sandbox, key } = await openBusySandbox()
  const [{ id } = { id: '' }] = sandbox.storage('storage_a').list()
  const { data } = (await call(sandbox, `/files/${id}?service=storage_a`, { key: key.key })).body
  expect((await fetch(data.webViewLink)).status).toBe(200)
  expect((await fetch(data.thumbnailUrl)).headers.get('content-type')).toContain('image/svg+xml')
})

test('an unknown key, page or storage gets an error status', async ({ sandbox }) => {
  expect((await read(sandbox, '/account/keys/key_none')).status).toBe(404)
  expect((await read(sandbox, '/nowhere')).status).toBe(404)
  expect((await read(sandbox, '/account/storages/storage_z')).status).toBe(400)
})

test('`html` escapes values but not markup', () => {
  const row = html`<b title="${'"><i>'}">${['<', html`<u>${1}</u>`, null, false]}</b>`
  expect(row.text).toBe('<b title="&quot;&gt;&lt;i&gt;">&lt;<u>1</u></b>')
})
