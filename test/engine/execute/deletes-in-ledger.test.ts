import { expect, test } from 'vitest'
import { entry } from '../../files/support/entries.ts'
import { failure, ok, ScriptedServer } from '../../files/support/scripted-server.ts'
import { testClient } from '../../files/support/test-client.ts'
import { createTestEngine } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

const ref = { service: 'storage_a', id: 'x' } as const
const STATE = { path: '/in/x.txt', bytes: 5, modifiedAt: '2026-01-02T00:00:00.000Z' }

/** The ledger of a run that deletes one file, which the service answers with these replies. */
async function ledgerOf(...replies: Parameters<ScriptedServer['script']>) {
  await using server = await ScriptedServer.start()
  const engine = createTestEngine()
  server.script(...replies)
  const { files } = testClient({ baseUrl: server.baseUrl })
  const tidy = define('tidy', { retry: { attempts: 1 } }, (context) =>
    context.files.delete(ref, { expect: { size: 5 } }),
  )
  await engine.start([tidy], { filesFor: (_account, wrap) => files.within(wrap) })
  await engine.run('tidy')
  const rows = await engine.store.listEffects({ after: 0, limit: 10 })
  const read = (text: string | null) => (text === null ? null : JSON.parse(text))
  return rows.map(({ phase, outcome, expect: required, before }) => ({
    ...{ phase, outcome, expect: read(required), before: read(before) },
  }))
}

const BEGUN = { phase: 'begun', outcome: null, expect: { path: null, bytes: 5, modifiedAt: null }, before: null }

test("a run's delete keeps its condition and what its own look found in the ledger", async () => {
  const before = { ...STATE, sha256: null }
  expect(await ledgerOf(ok(entry('x')), ok({ message: 'gone' }))).toEqual([
    BEGUN,
    { phase: 'ended', outcome: 'deleted', expect: null, before },
  ])
})

test('a delete that is refused or finds another version says in the ledger what it found', async () => {
  const changed = ok(entry('x', { size: 6 }))
  expect(await ledgerOf(changed)).toEqual([
    BEGUN,
    { phase: 'ended', outcome: 'changed', expect: null, before: { ...STATE, bytes: 6, sha256: null } },
  ])
  expect(await ledgerOf(ok(entry('x')), failure(403, 'FORBIDDEN'))).toEqual([
    BEGUN,
    { phase: 'ended', outcome: 'failed', expect: null, before: { ...STATE, sha256: null } },
  ])
})
