import { request } from 'node:http'
import { expect, test } from 'vitest'
import { FILE_TOKEN, startConsole } from '../support/start-console.ts'

const scrape = async (accept: string) => ({ contentType: 'text/plain; version=0.0.4', text: `# ${accept}\n` })

test('a scrape needs a token of any role, and may name any host', async () => {
  const console = await startConsole({ metrics: { isOpen: false, scrape } })
  const viewer = await console.makeToken('viewer')
  expect(await statusOf(console.origin, {})).toBe(401)
  expect(await statusOf(console.origin, { authorization: 'Bearer wrong' })).toBe(401)
  for (const token of [viewer, FILE_TOKEN]) {
    expect(await statusOf(console.origin, { authorization: `Bearer ${token}`, host: 'upshot:4701' })).toBe(200)
  }
})

test('an open scrape needs no token, but one of our own host names', async () => {
  const { origin } = await startConsole({ metrics: { isOpen: true, scrape } })
  expect(await statusOf(origin, {})).toBe(200)
  expect(await statusOf(origin, { host: 'evil.example' })).toBe(421)
})

test('a scrape gets the format that it asks for, and is not kept by caches', async () => {
  const { origin } = await startConsole({ metrics: { isOpen: true, scrape } })
  const response = await fetch(`${origin}/metrics`, { headers: { accept: 'application/openmetrics-text' } })
  expect(await response.text()).toBe('# application/openmetrics-text\n')
  expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4')
  expect(response.headers.get('cache-control')).toBe('no-store')
})

/** `fetch` would not send another `Host`. */
function statusOf(origin: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request(`${origin}/metrics`, { headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    asked.on('error', reject).end()
  })
}
