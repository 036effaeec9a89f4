import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { AdminServer } from '../../src/admin/admin-server.ts'
import { createHealth, type HealthReport } from '../../src/admin/ports/health.ts'
import { openRaw, requestHead } from '../support/raw-http.ts'

/** An admin server whose check is under way, asked by a client that keeps its connections. */
async function startAsked(answerWithinMs?: number) {
  const asked = Promise.withResolvers<void>()
  const report = Promise.withResolvers<HealthReport>()
  const check = () => {
    asked.resolve()
    return report.promise
  }
  const admin = new AdminServer({ check }, answerWithinMs === undefined ? {} : { answerWithinMs })
  const request = get(`${await admin.start(0)}/readyz`, { headers: { connection: 'keep-alive' } })
  const answered = once(request, 'response')
  answered.catch(() => {})
  await asked.promise
  return { admin, report, answered }
}

test('a stop waits for the health request that is being answered, and for no other', async () => {
  const { admin, report, answered } = await startAsked()
  const stopped = admin.stop()
  report.resolve({ ready: false, checks: { receiver: 'draining' }, warnings: [] })
  const [response] = await answered
  expect(response.statusCode).toBe(503)
  expect(JSON.parse(await text(response))).toEqual({ ready: false, checks: { receiver: 'draining' }, warnings: [] })
  expect(response.headers.connection).toBe('close')
  await stopped
})

test('a stop does not wait for a check that hangs', async () => {
  const { admin, answered } = await startAsked(20)
  await admin.stop()
  await expect(answered).rejects.toThrow('socket hang up')
})

test('a slow sender of headers, of a body or of nothing is cut off', async () => {
  const timeouts = { requestTimeout: 300, headersTimeout: 150, connectionsCheckingInterval: 50 }
  const read = () => ({ handler: (request: IncomingMessage) => void request.resume(), start() {}, async stop() {} })
  const admin = new AdminServer({ check: () => Promise.reject() }, { timeouts, routes: read })
  const url = await admin.start(0)
  const [silent, halfway, slow] = [await openRaw(url), await openRaw(url), await openRaw(url)]
  await halfway.write('POST /login HTTP/1.1\r\nHost: x\r\nX-Slow: ')
  await slow.write(requestHead('/login', { 'Content-Length': 1_000 }))
  await slow.write('{')
  await Promise.all([silent.closed, halfway.closed, slow.closed])
  await admin.stop()
})

test('a check that fails by itself costs its request, and not the process', async () => {
  const { admin, report, answered } = await startAsked()
  report.reject(new Error('no disk'))
  await expect(answered).rejects.toThrow('socket hang up')
  await admin.stop()
})

test('a check that never ends has failed, and the others are told', async () => {
  const health = createHealth({ stuck: () => new Promise(() => {}), fine: async () => {} }, { withinMs: 10 })
  expect(await health.check()).toEqual({
    ready: false,
    checks: { stuck: 'no answer within 0.01 s', fine: 'ok' },
    warnings: [],
  })
})
