import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Lease } from '../../../src/core/runs/lease.ts'
import { verifyLedger } from '../../../src/core/safety/ledger/verify-ledger.ts'
import { asOperator } from '../../../src/core/store/as-operator.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { MAX_CARRIED } from '../../../src/store/tables/approvals/approval-search.ts'
import { deleteAsk } from '../../contract/support/begin-delete.ts'
import { DATABASES } from '../../support/databases.ts'
import { checkpoint, NOW, queueRun } from '../../support/fixtures.ts'
import { bundledProgram } from '../../support/program.ts'
import { dieInPlace } from '../die-in-place.ts'
import { dieAtEveryCall } from '../every-call.ts'
import { askForList, OPERATOR } from './list-scenario.ts'
import { endAll, STOP } from './withdrawal-scenario.ts'

const CHILD = bundledProgram(join(import.meta.dirname, 'doomed-withdrawer.ts'))
/** Deletes of each list: three commits take them back, two of which the next life makes itself. */
const SIZE = 2 * MAX_CARRIED + 10
/** Runs that a stop holds: their end wakes them in two commits. */
const STOPPED = 260
/** Runs that the canceled one has invoked: three commits cancel them. */
const CHILDREN = 600

describe.each(DATABASES)('on %s', (database) => {
  test('what a run had asked for never begins after its end, wherever the process that ended it dies', async () => {
    const survive = dieInPlace(database, { child: CHILD, prepare: askAll, act: endAll }, checkRest)
    expect(await dieAtEveryCall(survive, database === 'SQLite' ? 2 : 8)).toBeGreaterThan(5)
  }, 600_000)
})

/** Two runs with long lists, children of the first, and stopped runs; gives the first lease. */
async function askAll(store: Store): Promise<Lease> {
  for (const event of ['evt_held', 'evt_other']) await queueRun(store, event)
  const [one, other] = (await store.claimRuns('wrk_1', 2, NOW)).map(({ lease }) => lease)
  if (!one || !other) throw new Error('both runs are claimed')
  await Promise.all(Array.from({ length: CHILDREN }, (_, n) => invokeChild(store, one, n)))
  for (const lease of [one, other]) {
    await askForList(store, lease, 'held', 0, SIZE)
    await store.parkRun(lease, { dueAt: null, reason: 'waits', awaits: ['held0'] })
  }
  await stopMany(store)
  return one
}

/** A person approves the whole list at once, whatever is left of it; then the canceled run asks. */
async function checkRest(store: Store, held: Lease): Promise<void> {
  const people = asOperator(store, OPERATOR, { now: () => NOW })
  const [list] = await store.listApprovals({ status: 'open', limit: 9, now: NOW })
  if (!list) throw new Error('the list of the other run is open')
  const part = { actor: 'ada', reason: null, only: null, answer: null, signature: null }
  await store.decideApproval({ ...part, approval: list.id, hash: list.hash, verdict: 'approved' }, NOW)
  await people.retryRun(held.runId, NOW)
  await store.startWorker('wrk_2', NOW)
  const lease = await claimOf(store, held.runId)
  for (const look of ['before the recovery', 'after it']) {
    const kinds = (await askForList(store, lease, 'held', 0, SIZE)).map(({ kind }) => kind)
    expect([look, new Set(kinds)]).toEqual([look, new Set(['held'])])
    for (let beat = 0; beat < 8; beat++) {
      await store.beatWorker('wrk_2', NOW)
      await store.recoverRuns(NOW, 60_000)
    }
  }
  expect(await store.listEffects({ phases: ['begun'], limit: 9 })).toEqual([])
  expect(await store.listGuardUse(NOW)).toEqual([])
  const open = await store.listApprovals({ status: 'open', limit: 9, now: NOW })
  expect(open).toMatchObject([{ openItems: SIZE, runs: 1 }])

  await people.resumeEffects(STOP, { actor: 'ada', reason: null, now: NOW })
  const awake = (await store.claimRuns('wrk_3', 2 * STOPPED, NOW)).length
  expect(awake).toBe(STOPPED + 1)
  expect((await verifyLedger(store)).faults).toEqual([])
  const children = await store.listRuns({ parentRun: held.runId, limit: 2 * CHILDREN })
  expect(children.map(({ status }) => status)).toEqual(Array(CHILDREN).fill('canceled'))
}

function invokeChild(store: Store, lease: Lease, n: number): Promise<void> {
  const step = checkpoint(`child${n}`, { kind: 'invoke', status: 'waiting', output: null, finishedAt: null })
  const invoke = { run: `run_child_${n}`, workflow: 'child', account: 'default', input: 'null', createdAt: NOW }
  return store.saveCheckpoint(lease, step, undefined, { invoke })
}

async function claimOf(store: Store, runId: string): Promise<Lease> {
  const claimed = await store.claimRuns('wrk_2', 2 * STOPPED, NOW)
  const found = claimed.find(({ lease }) => lease.runId === runId)
  if (!found) throw new Error('the run goes on')
  for (const { lease } of claimed) if (lease.runId !== runId) await store.releaseRun(lease)
  return found.lease
}

/** Holds runs with one delete each by a stop. */
async function stopMany(store: Store): Promise<void> {
  await store.stopEffects({ ...STOP, since: NOW, actor: 'ada', reason: 'wrong' })
  await Promise.all(Array.from({ length: STOPPED }, (_, n) => queueRun(store, `evt_${n}`, STOP.name)))
  const options = { now: NOW, expiresAt: NOW + 86_400_000, needs: 1 }
  for (const { lease } of await store.claimRuns('wrk_1', STOPPED, NOW)) {
    await store.beginEffects(
      lease,
      [deleteAsk(checkpoint('stopped', { target: 'storage_a:x' }), { workflow: STOP.name })],
      options,
    )
    await store.parkRun(lease, { dueAt: null, reason: 'stopped', awaits: ['stopped'] })
  }
}
