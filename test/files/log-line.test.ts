import { expect } from 'vitest'
import { entry, REF } from './support/entries.ts'
import { ok, test, text } from './support/scripted-server.ts'
import { testClient } from './support/test-client.ts'

test('a call is one log line with ids and no names, and a line per attempt', async ({ server }) => {
  server.script(text(500, ''), ok(entry('a', { name: 'salaries.xlsx', path: '/hr/salaries.xlsx' })))
  const { files, lines } = testClient({ baseUrl: server.baseUrl })
  await files.get(REF)

  expect(lines.filter((line) => line.kind === 'call')).toEqual([
    {
      kind: 'call',
      operation: 'get',
      service: 'storage_a',
      id: 'a',
      status: 200,
      ms: 0,
      attempts: 2,
      waitedMs: 0,
      tries: [
        { n: 1, status: 500, reason: 'ServerError', ms: 0, waitedMs: 0 },
        { n: 2, status: 200, reason: 'ok', ms: 0, waitedMs: 0 },
      ],
      outcome: 'ok',
    },
  ])
  expect(lines.filter((line) => line.kind === 'attempt')).toMatchObject([
    { n: 1, status: 500, reason: 'ServerError' },
    { n: 2, status: 200, reason: 'ok' },
  ])
  expect(JSON.stringify(lines)).not.toContain('salaries')
})

test('every request of a call carries the traceparent of its step', async ({ server }) => {
  server.script(text(500, ''), ok(entry('a')))
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
  const caller = { run: 'run_1', workflow: 'w', root: null, step: 's', attempt: 1, traceparent }
  await testClient({ baseUrl: server.baseUrl }).files.get(REF, { caller })
  expect(server.seen.map(({ headers }) => headers.traceparent)).toEqual([traceparent, traceparent])
})
