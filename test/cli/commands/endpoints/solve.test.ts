import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseHeaders } from '../../../../src/cli/commands/endpoints/solve.ts'
import { eventBody } from '../../../support/fixtures.ts'
import { opensslHmac, opensslMac } from '../../../support/sign.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { startTestApp } from '../../../support/test-app.ts'
import { runHere } from '../../support/run-here.ts'

const THEIRS = 'the-secret-that-only-they-know-012'

/** A learning endpoint, and a sender with an unusual scheme. */
async function startLearning() {
  const { app, dataDir } = await startTestApp()
  const endpoints = (args: string[], env: Record<string, string> = {}) =>
    runHere(dataDir, ['endpoints', ...args, '--json'], { env })
  const { endpoint, secret } = (await endpoints(['add', 'shop', '--learn'])).json.data
  const { url, status } = endpoint
  const send = async (body: string, key: string) => {
    const signature = `sha512=${opensslMac('sha512', key, Buffer.from(body)).toString('base64')}`
    const headers = {
      'content-type': 'application/json',
      'x-their-signature': signature,
      authorization: 'Bearer canary',
    }
    return (await fetch(url, { method: 'POST', headers, body })).status
  }
  return { app, dataDir, endpoints, secret: String(secret), status, send }
}

test('endpoints solve finds the scheme of captured deliveries and pins it', async () => {
  const { app, dataDir, endpoints, secret, status, send } = await startLearning()
  expect(status).toBe('learning')
  expect((await endpoints(['solve', 'shop'])).json.error).toMatchObject({ code: 'not_found' })
  expect((await endpoints(['enable', 'shop'])).json.error.fix).toContain('upshot endpoints solve shop')
  const body = eventBody('evt_1')
  expect(await send(body, secret)).toBe(503)

  const looked = await endpoints(['solve', 'shop'])
  const scheme = { algorithm: 'sha512', encoding: 'base64', header: 'x-their-signature', grammar: 'prefix' }
  expect(looked).toMatchObject({ exit: 0, json: { data: { kind: 'match', isPinned: false, scheme } } })
  expect(await send(body, secret)).toBe(503)
  const told = await runHere(dataDir, ['endpoints', 'solve', 'shop'])
  expect(told.stdout).toMatch(/Algorithm +HMAC-SHA512 of the body, in base64/)
  const [, { id = '' } = {}] = await app.store.listEndpoints()
  const captured = await app.store.listCaptures(id)
  expect(captured).toHaveLength(2)
  expect((await endpoints(['solve', 'shop', '--delivery', captured[0]?.id ?? ''])).json.data.kind).toBe('match')
  expect((await endpoints(['solve', 'shop', '--delivery', 'dlv_none'])).exit).toBe(5)

  expect((await endpoints(['solve', 'shop', '--pin'])).json.data).toMatchObject({ isPinned: true })
  expect(await send(body, secret)).toBe(200)
  expect(await app.store.findEvents('evt_1')).toHaveLength(1)
  expect((await endpoints(['test', 'shop'])).json.data.isPassed).toBe(true)
  expect(await app.store.listCaptures(id)).toEqual([])
})

test('endpoints solve exits with 7 if no scheme fits, and keeps a given secret that fits', async () => {
  const { endpoints, send } = await startLearning()
  const body = eventBody('evt_1')
  expect(await send(body, THEIRS)).toBe(503)
  const none = await endpoints(['solve', 'shop', '--pin'])
  expect(none).toMatchObject({ exit: 7, json: { ok: true, data: { kind: 'none', isPinned: false } } })
  const near = await endpoints(['solve', 'shop', '--secret-env', 'KEY'], { KEY: THEIRS.slice(0, -2) })
  expect(near).toMatchObject({ exit: 7, json: { data: { kind: expect.stringMatching(/near|none/) } } })
  const pinned = await endpoints(['solve', 'shop', '--secret-env', 'KEY', '--pin'], { KEY: THEIRS })
  expect(pinned).toMatchObject({ exit: 0, json: { data: { kind: 'match', isPinned: true } } })
  expect(pinned.stdout).not.toContain(THEIRS)
  expect(await send(body, THEIRS)).toBe(200)
  const { secrets } = (await endpoints(['show', 'shop'])).json.data
  expect(secrets).toMatchObject([
    { position: 0, until: expect.any(String) },
    { position: 1, until: null },
  ])

  expect((await endpoints(['edit', 'shop', '--learn'])).json.data.status).toBe('learning')
  expect(await send(body, THEIRS)).toBe(503)
  expect((await endpoints(['remove', 'shop', '--yes'])).exit).toBe(0)
  expect(await send(body, THEIRS)).toBe(401)
})

test('endpoints solve finds the scheme of a delivery in two files, without an app', async () => {
  const folder = tempFolder()
  const [body, headers] = [join(folder, 'body.json'), join(folder, 'headers.txt')]
  const sent = `${eventBody('evt_1')}\n`
  writeFileSync(body, sent)
  writeFileSync(headers, `POST /hooks/x HTTP/1.1\r\nHost: x\r\nX-Service-Signature: ${opensslHmac(THEIRS, sent)}\r\n`)
  const solve = (args: string[], key = THEIRS) =>
    runHere(folder, ['endpoints', 'solve', ...args, '--secret-env', 'KEY', '--json'], { env: { KEY: key } })
  const files = ['--body', body, '--headers', headers]
  expect((await solve(files)).json.data).toMatchObject({ kind: 'match', preset: 'hex' })
  writeFileSync(body, eventBody('evt_1'))
  const near = await solve(files)
  expect(near).toMatchObject({ exit: 7, json: { data: { kind: 'near', cause: 'body_newline' } } })
  expect([await solve(['--body', body]), await solve([...files, '--pin'])].map(({ exit }) => exit)).toEqual([2, 2])
})

test.each([
  ['X-Sig: abc\r\nX-Time:  12 \r\n', { 'X-Sig': 'abc', 'X-Time': '12' }],
  ['> POST / HTTP/1.1\n> X-Sig: a:b\n', { 'X-Sig': 'a:b' }],
  ['{"X-Sig": "abc"}', { 'X-Sig': 'abc' }],
])('endpoints solve reads the headers %j', (text, headers) => {
  expect(parseHeaders(text)).toEqual(headers)
})

test.each(['', 'no header here', '{"X-Sig": 1}', '{'])('endpoints solve refuses the headers %j', (text) => {
  expect(() => parseHeaders(text)).toThrow(/headers/)
})
