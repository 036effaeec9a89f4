import { expect } from 'vitest'
import type { Lease } from '../../src/core/runs/lease.ts'
import type { Question } from '../../src/core/runs/wait.ts'
import { folderLimit } from '../../src/core/safety/guard.ts'
import type { Store } from '../../src/core/store/store.ts'
import { checkpoint, NOW } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { beginDelete, NONE } from './support/begin-delete.ts'
import { claimNext } from './support/claim-next.ts'
import { claimLease, statusOf } from './support/waiting-runs.ts'
import { wordOf } from './support/word-of.ts'

const DAY = 86_400_000
const file = { path: '/a', bytes: 5, modifiedAt: null }
const question: Question = {
  workflow: 'follow-up',
  account: 'default',
  ask: 'Go on?',
  show: { batch: 7 },
  answer: null,
  needs: 1,
  role: null,
  openedAt: NOW,
  expiresAt: NOW + DAY,
  effects: [{ step: 'files.delete[storage_a:a]', target: 'storage_a:a', asked: file }],
}
const open = { kind: 'approve', effect: 'read', status: 'waiting', output: null, finishedAt: null } as const

/** A run that asks, and is parked until people have decided. */
async function ask(store: Store, part: Partial<Question> = {}): Promise<{ lease: Lease; id: string }> {
  const lease = await claimLease(store)
  const approve = { ...question, ...part }
  await store.saveCheckpoint(lease, checkpoint('ask', open), undefined, { approve })
  await store.parkRun(lease, { dueAt: approve.expiresAt, reason: 'waits for people', awaits: ['ask'] })
  return { lease, id: (await store.findQuestion(lease.runId, 'ask', NOW))?.id ?? '' }
}

const told = async (store: Store) =>
  (await store.listEvents({ limit: 9 }))
    .filter(({ type }) => type.startsWith('upshot.'))
    .map(({ type, body }) => [type, (JSON.parse(body) as { data: { status?: string } }).data.status ?? null])

describeStores((test, openStore) => {
  test('a question opens with the checkpoint of its step, once, and its effects are its list', async () => {
    const { store } = await openStore()
    const { lease, id } = await ask(store)
    expect(await statusOf(store, lease)).toBe('waiting')
    expect(await store.findApproval(id, NOW)).toMatchObject({
      kind: 'question',
      status: 'open',
      why: 'Go on?',
      items: 1,
      openItems: 1,
      runs: 1,
      bytes: 5,
      question: { runId: lease.runId, step: 'ask', show: { batch: 7 }, answer: null },
    })
    expect(await store.listApprovalItems({ approval: id, limit: 9 })).toMatchObject([
      { number: 1, target: 'storage_a:a', asked: file, state: 'open' },
    ])
    expect(await told(store)).toEqual([['upshot.approval.opened', null]])
  })

  test('a word wakes the run that asked, and tells of the end in the same commit', async () => {
    const { store } = await openStore()
    const { lease, id } = await ask(store)
    expect(await store.decideApproval(await wordOf(store, id, { answer: '{"n":1}' }), NOW)).toMatchObject({
      status: 'approved',
      granted: 1,
      woken: 1,
    })
    expect(await statusOf(store, lease)).toBe('pending')
    expect(await store.findQuestion(lease.runId, 'ask', NOW)).toMatchObject({
      status: 'approved',
      answer: '{"n":1}',
      votes: [{ actor: 'anna', verdict: 'approved', answer: '{"n":1}' }],
    })
    expect(await told(store)).toContainEqual(['upshot.approval.closed', 'approved'])
  })

  test('an effect of a question passes its limits once it is approved, in the state that was shown', async () => {
    const { store } = await openStore()
    const effects = ['a', 'b'].map((name) => ({ step: name, target: `storage_a:${name}`, asked: file }))
    const { id } = await ask(store, { effects })
    await store.decideApproval(await wordOf(store, id), NOW)
    const run = await claimNext(store)
    const begin = (name: string, asked: typeof file) =>
      beginDelete(store, run.lease, checkpoint(name, { target: `storage_a:${name}` }), { limits: NONE, asked })
    expect(await begin('a', file)).toMatchObject({ kind: 'granted', approval: id, expect: file })
    expect(await begin('b', { ...file, bytes: 6 })).toMatchObject({ kind: 'granted', approval: id, expect: file })
    expect(await begin('c', file)).toMatchObject({ kind: 'held' })
  })

  test('a yes to a list of files lets no folder be deleted with everything in it', async () => {
    const { store } = await openStore()
    const { lease, id } = await ask(store, { effects: [{ step: 'a', target: 'storage_a:a', asked: file }] })
    await store.decideApproval(await wordOf(store, id), NOW)
    const run = await claimNext(store)
    const limits = [folderLimit(lease)]
    const begin = () =>
      beginDelete(store, run.lease, checkpoint('a', { target: 'storage_a:a' }), { limits, asked: file })
    expect(await begin()).toMatchObject({ kind: 'held', rule: 'folder' })
    const [opened] = await store.listApprovals({ limit: 1, now: NOW, status: 'open' })
    await store.decideApproval(await wordOf(store, opened?.id ?? ''), NOW)
    expect(await begin()).toMatchObject({ kind: 'granted', approval: opened?.id })
  })

  test('a question is answered as a whole: neither a part of it nor an older hash is a yes', async () => {
    const { store } = await openStore()
    const effects = ['a', 'b'].map((name) => ({ step: name, target: `storage_a:${name}`, asked: file }))
    const { id } = await ask(store, { effects })
    const [first] = await store.listApprovalItems({ approval: id, limit: 1 })
    for (const part of [{ only: [{ from: 1, to: 1 }] }, { hash: first?.hash ?? '' }]) {
      await expect(store.decideApproval(await wordOf(store, id, part), NOW)).rejects.toThrow('answered as a whole')
    }
    expect(await store.findApproval(id, NOW)).toMatchObject({ status: 'open', votes: [] })
  })

  test('two people agree only where they give the same answer', async () => {
    const { store } = await openStore()
    const { id } = await ask(store, { needs: 2 })
    await store.decideApproval(await wordOf(store, id, { answer: '1' }), NOW)
    const other = await wordOf(store, id, { actor: 'ben', answer: '2' })
    expect(await store.decideApproval(other, NOW)).toMatchObject({ status: 'open', missing: 1 })
    const same = await wordOf(store, id, { actor: 'ben', answer: '1' })
    expect(await store.decideApproval(same, NOW)).toMatchObject({ status: 'approved' })
  })

  test('a user of a provider has one word, the last one, under any name', async () => {
    const { store } = await openStore()
    const { id } = await ask(store, { needs: 2 })
    const say = async (actor: string, answer: string) =>
      store.decideApproval(await wordOf(store, id, { actor, answer }), NOW)
    expect(await say('web:eve#0123456789abcdef', '1')).toMatchObject({ missing: 1 })
    expect(await say('web:ada#0123456789abcdef', '2')).toMatchObject({ missing: 1 })
    expect(await say('web:eve#fedcba9876543210', '1')).toMatchObject({ missing: 1 })
    expect(await say('web:ben#0123456789abcdef', '1')).toMatchObject({ status: 'approved' })
  })

  test('a question that nobody decides is expired, never approved, and its step closes it', async () => {
    const { store } = await openStore()
    const { lease, id } = await ask(store)
    const later = NOW + DAY
    expect(await store.findQuestion(lease.runId, 'ask', later)).toMatchObject({ status: 'expired' })
    await expect(store.decideApproval(await wordOf(store, id), later)).rejects.toThrow('is expired already')
    const [run] = await store.claimRuns('wrk_1', 1, later)
    if (!run) throw new Error('it was due')
    const row = checkpoint('ask', { kind: 'approve', effect: 'read' })
    await store.saveCheckpoint(run.lease, row, undefined, { isSettled: true, expire: { approval: id, now: later } })
    expect(await told(store)).toContainEqual(['upshot.approval.closed', 'expired'])
    expect(await store.listApprovals({ status: 'open', limit: 9, now: NOW })).toEqual([])
  })

  test('a question goes with its run, and a retried run asks a new one', async () => {
    const { store } = await openStore()
    const { lease, id } = await ask(store)
    await store.cancelRun(lease.runId, 'by hand', NOW)
    expect(await store.findApproval(id, NOW)).toMatchObject({ status: 'withdrawn' })
    expect(await told(store)).toContainEqual(['upshot.approval.closed', 'withdrawn'])
    await store.retryRun(lease.runId, NOW)
    expect(await store.listSteps(lease.runId)).toEqual([])
    const run = await claimNext(store)
    await store.saveCheckpoint(run.lease, checkpoint('ask', open), undefined, { approve: question })
    const again = await store.findQuestion(lease.runId, 'ask', NOW)
    expect(again).toMatchObject({ status: 'open' })
    expect(again?.id).not.toBe(id)
  })
})
