import { expect } from 'vitest'
import { decideSelfCaused } from '../../src/core/runs/self-caused.ts'
import type { Store } from '../../src/core/store/store.ts'
import { checkpoint, NOW } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { beginDelete, NONE } from './support/begin-delete.ts'
import { claimLease } from './support/waiting-runs.ts'
import { wordOf } from './support/word-of.ts'

const MINUTE = 60_000
const TARGET = 'storage_a:fil_1'
const step = checkpoint('gone', { effect: 'delete', target: TARGET })

/** Deletes the target with this end, completes the run, and prunes it. */
async function deleteAndPrune(store: Store, part: Partial<typeof step>): Promise<void> {
  const lease = await claimLease(store)
  await beginDelete(store, lease, step)
  await store.saveCheckpoint(lease, {
    ...step,
    output: JSON.stringify({ outcome: 'deleted', proof: 'reply' }),
    ...part,
  })
  await store.completeRun(lease, 'null', NOW)
  for (const limit of [1, 100]) await store.prune({ kind: 'runs', before: NOW + 1, limit, after: null })
  expect(await store.findRun(lease.runId)).toBeNull()
}

/** Whether an event that comes so long after the delete was caused by us. */
async function judge(store: Store, afterMs: number, account = 'default') {
  const at = NOW + afterMs
  const deletes = await store.listDeletes(account, [TARGET])
  return decideSelfCaused({ createdAt: at, receivedAt: at }, deletes, at + 20 * MINUTE)
}

describeStores((test, open) => {
  test('a file whose id has the character 0 was deleted by nobody here', async ({ store }) => {
    expect(await store.listDeletes('default', [TARGET, 'storage_a:fil\0'])).toEqual([])
  })

  test('a delete that the guard holds is none of ours, until it is granted', async ({ store }) => {
    const lease = await claimLease(store)
    expect(await beginDelete(store, lease, step, { limits: NONE })).toMatchObject({ kind: 'held' })
    expect(await judge(store, MINUTE)).toBe('no')
    await store.stopEffects({ kind: 'all', name: '', since: NOW, actor: 'ada', reason: 'no' })
    expect(await beginDelete(store, lease, step)).toMatchObject({ kind: 'stopped' })
    expect(await judge(store, MINUTE)).toBe('no')
    await store.resumeEffects({ kind: 'all', name: '' }, { actor: 'ada', reason: null, now: NOW })
    expect(await beginDelete(store, lease, step)).toMatchObject({ kind: 'granted' })
    expect(await judge(store, MINUTE)).toBe('yes')
  })

  test.each(['denied', 'expired'])('a held delete whose approval is %s is none of ours', async (end) => {
    const { store } = await open()
    const lease = await claimLease(store)
    expect(await beginDelete(store, lease, step, { limits: NONE })).toMatchObject({ kind: 'held' })
    const [approval] = await store.listApprovals({ limit: 1, now: NOW })
    if (!approval) throw new Error('nothing was held')
    const word = { approval: approval.id, verdict: 'denied', actor: 'anna', reason: null, hash: approval.hash } as const
    if (end === 'denied') await store.decideApproval({ ...word, only: null, answer: null, signature: null }, NOW)
    const now = end === 'denied' ? NOW : approval.expiresAt + 1
    expect(await beginDelete(store, lease, step, { limits: NONE, now })).toMatchObject({ kind: 'denied' })
    expect(await store.listDeletes('default', [TARGET])).toEqual([])
    const error = { name: 'UpshotError', message: 'was refused' }
    await store.saveCheckpoint(lease, { ...step, status: 'failed', output: null, error })
    expect(await judge(store, MINUTE)).toBe('no')
    await store.completeRun(lease, 'null', NOW)
    for (const limit of [1, 100]) await store.prune({ kind: 'runs', before: NOW + 1, limit, after: null })
    expect(await store.findRun(lease.runId)).toBeNull()
    expect(await judge(store, MINUTE)).toBe('no')
  })

  test('a delete counts as ours within its ten minutes, although its run is pruned', async ({ store }) => {
    await deleteAndPrune(store, {})
    expect(await store.listDeletes('default', [TARGET])).toMatchObject([
      { key: 'gone', status: 'completed', target: TARGET, finishedAt: step.finishedAt, error: null },
    ])
    expect(await judge(store, 9 * MINUTE)).toBe('yes')
    expect(await judge(store, 11 * MINUTE)).toBe('no')
    expect(await judge(store, MINUTE, 'other')).toBe('no')
  })

  test.each(['not_found', 'changed'])('a pruned delete with the outcome %s is none of ours', async (outcome) => {
    const { store } = await open()
    await deleteAndPrune(store, { output: JSON.stringify({ outcome, proof: 'none' }) })
    expect(await judge(store, MINUTE)).toBe('no')
  })

  test.each([
    ['PermissionError', 'no'],
    ['ServiceError', 'yes'],
  ])('a pruned delete that failed with a %s answers %s', async (name, verdict) => {
    const { store } = await open()
    const error = { name, message: 'HTTP: no luck\nat all' }
    await deleteAndPrune(store, { status: 'failed', output: null, error })
    expect(await store.listDeletes('default', [TARGET])).toMatchObject([{ status: 'failed', error }])
    expect(await judge(store, MINUTE)).toBe(verdict)
  })

  test('a delete is listed once, also while the steps of its pruned run are still there', async ({ store }) => {
    const lease = await claimLease(store)
    await beginDelete(store, lease, step)
    await store.saveCheckpoint(lease, step)
    await store.completeRun(lease, 'null', NOW)
    expect(await store.listDeletes('default', [TARGET])).toHaveLength(1)
    await store.prune({ kind: 'runs', before: NOW + 1, limit: 1, after: null })
    expect(await store.findRun(lease.runId)).toBeNull()
    expect(await store.listDeletes('default', [TARGET])).toHaveLength(1)
  })

  test('the ledger names the people who approved a delete, in both of its rows', async ({ store }) => {
    const lease = await claimLease(store)
    await beginDelete(store, lease, step, { limits: NONE })
    const [approval] = await store.listApprovals({ limit: 1, now: NOW })
    if (!approval) throw new Error('nothing was held')
    const word = await wordOf(store, approval.id, { actor: 'cli:anna', reason: 'it is old' })
    await store.decideApproval(word, NOW)
    expect(await beginDelete(store, lease, step, { limits: NONE })).toMatchObject({ kind: 'granted' })
    await store.saveCheckpoint(lease, { ...step, output: JSON.stringify({ outcome: 'deleted', proof: 'reply' }) })
    const about = { approval: approval.id, actor: 'cli:anna', runId: lease.runId, eventSeq: expect.any(Number) }
    expect(await store.listEffects({ target: TARGET, limit: 9 })).toMatchObject([
      { phase: 'ended', ...about },
      { phase: 'begun', ...about },
    ])
    expect(await store.listEffects({ phases: ['decided'], limit: 9 })).toMatchObject([
      { operation: 'approve', actor: 'cli:anna', error: 'it is old' },
    ])
  })
})
