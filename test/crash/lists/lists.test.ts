import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Lease } from '../../../src/core/runs/lease.ts'
import { verifyLedger } from '../../../src/core/safety/ledger/verify-ledger.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { NOW, queueRun } from '../../support/fixtures.ts'
import { dieAtEveryCall } from '../every-call.ts'
import { dieInCopy, inStore } from './die-in-copy.ts'
import { APPROVED, askForList, SIZE } from './list-scenario.ts'

const CHILD = join(import.meta.dirname, 'doomed-lister.ts')

let folder = ''
let leases: Lease[] = []
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'upshot-crash-'))
  await inStore(join(folder, 'asked'), async (store) => {
    for (const event of ['evt_free', 'evt_held']) await queueRun(store, event)
    leases = (await store.claimRuns('wrk_1', 2, NOW)).map(({ lease }) => lease)
  })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('a long list is counted once and decided as a whole, at whatever store call its process dies', async () => {
  const survivedAt = await dieAtEveryCall(surviveCrash)
  expect(survivedAt).toBeGreaterThan(15)
}, 600_000)

/** Kills a process at its n-th call, and lets the next passes go on. True where it lived on. */
async function surviveCrash(call: number): Promise<boolean> {
  return await dieInCopy(folder, { child: CHILD, given: leases, call }, checkRest)
}

async function checkRest(store: Store): Promise<void> {
  for (let beat = 0; beat < 5; beat++) await store.recoverRuns(NOW, 60_000)
  for (const lease of leases) await store.releaseRun(lease)
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
