import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Lease } from '../../../src/core/runs/lease.ts'
import { verifyLedger } from '../../../src/core/safety/ledger/verify-ledger.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { DATABASES } from '../../support/databases.ts'
import { NOW, queueRun } from '../../support/fixtures.ts'
import { bundledProgram } from '../../support/program.ts'
import { dieInPlace } from '../die-in-place.ts'
import { dieAtEveryCall } from '../every-call.ts'
import { APPROVED, askForList, SIZE, workAll } from './list-scenario.ts'

const CHILD = bundledProgram(join(import.meta.dirname, 'doomed-lister.ts'))

describe.each(DATABASES)('on %s', (database) => {
  test('a long list is counted once and decided as a whole, at whatever store call its process dies', async () => {
    const survive = dieInPlace(database, { child: CHILD, prepare: claimTwo, act: workAll }, checkRest)
    const survivedAt = await dieAtEveryCall(survive, database === 'SQLite' ? 2 : 8)
    expect(survivedAt).toBeGreaterThan(15)
  }, 600_000)
})

/** Leases of two runs, of which one may begin its list and the other has it held. */
async function claimTwo(store: Store): Promise<Lease[]> {
  for (const event of ['evt_free', 'evt_held']) await queueRun(store, event)
  return (await store.claimRuns('wrk_1', 2, NOW)).map(({ lease }) => lease)
}

/** Lets the next passes go on. */
async function checkRest(store: Store, leases: Lease[]): Promise<void> {
  for (let beat = 0; beat < 5; beat++) await store.recoverRuns(NOW, 60_000)
  // A server knows that no worker holds them, and a file does not.
  for (const lease of leases) await store.releaseRun(lease).catch(() => {})
  const next = await store.claimRuns('wrk_2', 2, NOW)
  const [free, held] = leases.map(({ runId }) => next.find(({ lease }) => lease.runId === runId)?.lease)
  if (!free || !held) throw new Error('both runs are claimed again')
  const granted = await askForList(store, free, 'free', SIZE)
  expect(granted.filter(({ kind }) => kind === 'granted')).toHaveLength(SIZE)
  const words = (await store.listEffects({ phases: ['decided'], limit: 9 })).length
  const kinds = (await askForList(store, held, 'held', 0)).map(({ kind }) => kind)
  const expected = kinds.map((_, index) => (words === 1 && index < APPROVED ? 'granted' : 'held'))
  expect(kinds).toEqual(expected)
  const [open, ...others] = await store.listApprovals({ status: 'open', limit: 9, now: NOW })
  expect([open?.openItems, others]).toEqual([words === 1 ? SIZE - APPROVED : SIZE, []])

  const begun = await store.listEffects({ phases: ['begun'], limit: 10 * SIZE })
  const asked = SIZE + (words === 1 ? APPROVED : 0)
  expect([begun.length, new Set(begun.map(({ step }) => step)).size]).toEqual([asked, asked])
  const uses = await store.listGuardUse(NOW)
  const countOf = (name: string) =>
    uses.find((use) => use.scope === 'all' && use.window === 'day' && use.class === name)?.count ?? 0
  expect([countOf('delete'), countOf('approved')]).toEqual([SIZE, asked - SIZE])
  expect((await verifyLedger(store)).faults).toEqual([])
}
