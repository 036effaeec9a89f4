import { request as httpRequest } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { hashSecret } from '../../../src/core/access/token.ts'
import { FILE_TOKEN, startConsole } from '../support/start-console.ts'

/** Sends a request with headers that `fetch` would not let a caller set. */
function rawStatus(url: string, headers: Record<string, string>, method = 'GET'): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    request.on('error', reject).end()
  })
}

test('a login code works once, and not after ten minutes', async () => {
  const { api, store, clock } = await startConsole()
  const { hashSecret } = await import('../../../src/core/access/token.ts')
  const code = 'a-code-of-this-test'
  const save = () =>
    store.saveLoginCode({ hash: hashSecret(code), name: 'ada', role: 'admin', expiresAt: clock.now() + 600_000 })
  const use = async () => {
    const headers = { 'content-type': 'application/json' }
    return (await fetch(`${api}/login`, { method: 'POST', headers, body: JSON.stringify({ code }) })).status
  }
  await save()
  expect(await use()).toBe(200)
  expect(await use()).toBe(401)
  await save()
  clock.advance('10m')
  expect(await use()).toBe(401)
})

test('wrong codes are limited to five a minute for an address, and shut out nobody who has a right one', async () => {
  const { api, clock, logIn } = await startConsole()
  const use = async (code: string) => {
    const headers = { 'content-type': 'application/json' }
    return fetch(`${api}/login`, { method: 'POST', headers, body: JSON.stringify({ code }) })
  }
  for (let wrong = 0; wrong < 5; wrong++) expect((await use('wrong')).status).toBe(401)
  const refused = await use('wrong')
  expect(refused.status).toBe(429)
  expect(await refused.json()).toMatchObject({ code: 'too_many_requests', retryAt: expect.any(String) })
  // Behind a proxy, this may be the address of everybody.
  expect((await logIn()).cookie).not.toBe('')
  clock.advance('1m')
  expect((await use('wrong')).status).toBe(401)
})

test.runIf(process.platform === 'linux')('wrong codes of one address do not count for another', async () => {
  const { api } = await startConsole()
  const use = (localAddress: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = { 'content-type': 'application/json' }
      const request = httpRequest(`${api}/login`, { method: 'POST', headers, localAddress }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      request.on('error', reject).end('{"code":"wrong"}')
    })
  for (let wrong = 0; wrong < 5; wrong++) expect(await use('127.0.0.2')).toBe(401)
  expect(await use('127.0.0.2')).toBe(429)
  expect(await use('127.0.0.3')).toBe(401)
})

test('a page that only listens keeps no session alive', async () => {
  const { api, clock, logIn } = await startConsole()
  const { cookie, key } = await logIn()
  const headers = { cookie, 'x-upshot': key }
  const response = await fetch(`${api}/live`, { headers })
  const messages = (response.body as ReadableStream<Uint8Array>).getReader()
  onTestFinished(() => messages.cancel())
  // A login is looked at every 15 seconds, before the next message.
  await messages.read()
  for (let hours = 0; hours < 11; hours++) {
    await expect.poll(() => clock.nextAt()).not.toBeNull()
    clock.advance('1h')
    await messages.read()
  }
  clock.advance('1h')
  expect((await fetch(`${api}/session`, { headers })).status).toBe(401)
})

test('a session ends after twelve idle hours, after seven days, and with a logout', async () => {
  const { api, clock, logIn } = await startConsole()
  const status = async ({ cookie, key }: { cookie: string; key: string }, path = '/session', method = 'GET') =>
    (await fetch(`${api}${path}`, { method, headers: { cookie, 'x-upshot': key } })).status
  const idle = await logIn()
  clock.advance('11h')
  expect(await status(idle)).toBe(200)
  clock.advance('11h')
  expect(await status(idle)).toBe(200)
  clock.advance('12h')
  expect(await status(idle)).toBe(401)
  const long = await logIn()
  for (let hours = 0; hours < 160; hours += 8) {
    clock.advance('8h')
    expect(await status(long)).toBe(200)
  }
  clock.advance('8h')
  expect(await status(long)).toBe(401)
  const ended = await logIn()
  expect(await status(ended, '/logout', 'POST')).toBe(204)
  expect(await status(ended)).toBe(401)
})

test('neither a login nor a code of a clock that was a year ahead outlives its time', async () => {
  const { api, clock, store, logIn } = await startConsole()
  const now = clock.now()
  clock.advance('365d')
  const { cookie, key } = await logIn()
  const code = 'made-a-year-ahead'
  await store.saveLoginCode({ hash: hashSecret(code), name: 'ada', role: 'admin', expiresAt: clock.now() + 60_000 })
  clock.set(now)
  expect((await fetch(`${api}/session`, { headers: { cookie, 'x-upshot': key } })).status).toBe(401)
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ code }) }
  expect((await fetch(`${api}/login`, request)).status).toBe(401)
  // Nobody is shut out by it.
  expect((await logIn()).cookie).not.toBe('')
})

test('an expired or revoked token is refused', async () => {
  const { api, store, clock, makeToken } = await startConsole()
  const token = await makeToken('viewer', clock.now() + 3_600_000)
  const status = async () => (await fetch(`${api}/runs`, { headers: { authorization: `Bearer ${token}` } })).status
  expect(await status()).toBe(200)
  expect((await store.listTokens())[0]).toMatchObject({ lastUsedAt: clock.now() })
  clock.advance('1h')
  expect(await status()).toBe(401)
  const other = await makeToken('viewer')
  const [{ id } = { id: '' }] = await store.listTokens()
  expect(await store.revokeToken(id, clock.now())).toBe(true)
  expect((await fetch(`${api}/runs`, { headers: { authorization: `Bearer ${other}` } })).status).toBe(401)
})

test('a foreign host name gets 421, foreign pages get 403, and health answers everybody', async () => {
  const { api, origin } = await startConsole()
  const login = { authorization: `Bearer ${FILE_TOKEN}` }
  const { port } = new URL(origin)
  expect(await rawStatus(`${api}/runs`, { ...login, host: `evil.example:${port}` })).toBe(421)
  expect(await rawStatus(`${api}/runs`, { ...login, host: `localhost:${port}` })).toBe(200)
  expect(await rawStatus(`${api}/runs`, { ...login, origin: 'http://127.0.0.1:1' })).toBe(403)
  expect(await rawStatus(`${api}/runs`, { ...login, origin: 'null' })).toBe(403)
  expect(await rawStatus(`${api}/runs`, { ...login, origin })).toBe(200)
  expect(await rawStatus(`${api}/runs`, { ...login, 'sec-fetch-site': 'same-site' })).toBe(403)
  expect(await rawStatus(`${api}/runs`, { ...login, 'sec-fetch-site': 'cross-site' })).toBe(403)
  expect(await rawStatus(`${api}/runs`, { ...login, 'sec-fetch-site': 'same-origin' })).toBe(200)
  expect(await rawStatus(`${origin}/livez`, { host: 'anything.example' })).toBe(200)
})

test('a user named by the proxy is believed only from its address, with the role that the map gives', async () => {
  const proxy = { header: 'x-user', from: ['127.0.0.1'], roles: { ada: 'admin', '*': 'viewer' } as const }
  const access = { basePath: '', url: null, fileTokenHash: '', proxy }
  const known = await startConsole({ access })
  const ask = async ({ api }: { api: string }, headers: Record<string, string>) => {
    const response = await fetch(`${api}/session`, { headers })
    return response.ok ? ((await response.json()) as { role: string }).role : response.status
  }
  expect(await ask(known, { 'x-user': 'ada', 'x-upshot': '1' })).toBe('admin')
  expect(await ask(known, { 'x-user': 'bob', 'x-upshot': '1' })).toBe('viewer')
  expect(await ask(known, { 'x-user': 'ada' })).toBe(401)
  const elsewhere = await startConsole({ access: { ...access, proxy: { ...proxy, from: ['10.0.0.1'] } } })
  expect(await ask(elsewhere, { 'x-user': 'ada', 'x-upshot': '1' })).toBe(401)
})

test('a base path stands before everything, also in the cookie, and the page says how it is built', async () => {
  const access = { basePath: '/ops', url: 'https://ops.example.com', fileTokenHash: '', proxy: null }
  const { origin, base, api, store, clock } = await startConsole({ access })
  await store.saveLoginCode({ hash: hashSecret('code'), name: 'ada', role: 'admin', expiresAt: clock.now() + 60_000 })
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${api}/login`, { method: 'POST', headers, body: '{"code":"code"}' })
  expect(response.headers.getSetCookie()[0]).toMatch(
    /^__Secure-upshot_\d+=\w{32}; Path=\/ops; Max-Age=604800; HttpOnly; SameSite=Strict; Secure$/,
  )
  expect((await fetch(`${origin}/api/v1/session`)).status).toBe(404)
  const page = await fetch(`${base}/runs/run_1`)
  expect(page.status).toBe(404)
  expect(await page.text()).toContain('not built')
  expect(page.headers.get('content-security-policy')).toContain("require-trusted-types-for 'script'")
})
