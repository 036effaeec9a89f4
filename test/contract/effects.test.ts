import { expect } from 'vitest'
import type { Lease } from '../../src/core/runs/lease.ts'
import type { Checkpoint } from '../../src/core/runs/step.ts'
import type { Store } from '../../src/core/store/store.ts'
import { checkpoint, NOW } from '../support/fixtures.ts'
import { describeStores } from './describe-stores.ts'
import { beginDelete, limitOf, NONE } from './support/begin-delete.ts'
import { claimNext } from './support/claim-next.ts'
import { claimLease } from './support/waiting-runs.ts'
import { wordOf } from './support/word-of.ts'

const HOUR = 3_600_000
const A = { path: '/a.mov', bytes: 100, modifiedAt: '2026-01-01T00:00:00Z' }

const step = (key: string): Checkpoint => checkpoint(key, { effect: 'delete', target: `storage_a:${key}` })

/** Ends a delete with this outcome. */
const end = (store: Store, lease: Lease, key: string, outcome: string) =>
  store.saveCheckpoint(lease, { ...step(key), output: JSON.stringify({ outcome, proof: 'reply' }) })

describeStores((test, open) => {
  test('effects are granted up to their limit, by all runs and processes together', async ({ store, reopen }) => {
    const [one, two] = [await claimLease(store, 'evt_1'), await claimLease(store, 'evt_2')]
    const limits = [limitOf(2)]
    expect(await beginDelete(store, one, step('a'), { limits })).toMatchObject({ kind: 'granted' })
    expect(await beginDelete(await reopen(), two, step('b'), { limits })).toMatchObject({ kind: 'granted' })
    const held = { kind: 'held', rule: limits[0]?.setting }
    expect(await beginDelete(store, one, step('c'), { limits })).toMatchObject({ ...held, opened: true })
    expect(await beginDelete(store, two, step('d'), { limits })).toMatchObject({ ...held, opened: false })
  })

  test('an effect that is asked for again is granted and counted once, whatever the limit is by then', async () => {
    const { store, reopen } = await open()
    const lease = await claimLease(store, 'evt_1')
    for (const each of [store, await reopen(), store]) {
      expect(await beginDelete(each, lease, step('a'), { limits: [limitOf(1)] })).toMatchObject({ kind: 'granted' })
    }
    expect(await beginDelete(store, lease, step('a'), { limits: NONE })).toMatchObject({ kind: 'granted' })
    expect(await store.listGuardUse(NOW)).toContainEqual(
      expect.objectContaining({ scope: 'all', window: 'hour', class: 'delete', count: 1 }),
    )
    expect((await store.listEffects({ limit: 10 })).filter(({ phase }) => phase === 'begun')).toHaveLength(1)
  })

  test('a place counts from the beginning of an effect, and its failure gives it not back', async ({ store }) => {
    const lease = await claimLease(store, 'evt_1')
    await beginDelete(store, lease, step('a'), { limits: [limitOf(1)] })
    const error = { name: 'Error', message: 'no luck' }
    await store.saveCheckpoint(lease, { ...step('a'), status: 'failed', output: null, error })
    expect(await beginDelete(store, lease, step('b'), { limits: [limitOf(1)] })).toMatchObject({ kind: 'held' })
  })

  test.each(['changed', 'not_found'])('a delete with the outcome %s gives its place back', async (outcome) => {
    const { store } = await open()
    const lease = await claimLease(store, 'evt_1')
    await beginDelete(store, lease, step('a'), { limits: [limitOf(1)] })
    await end(store, lease, 'a', outcome)
    expect(await beginDelete(store, lease, step('b'), { limits: [limitOf(1)] })).toMatchObject({ kind: 'granted' })
  })

  test('a delete that was repeated after a crash gives no place back: the first attempt may have worked', async () => {
    const { store } = await open()
    const lease = await claimLease(store, 'evt_1')
    for (let permits = 0; permits < 2; permits++) await beginDelete(store, lease, step('a'), { limits: [limitOf(1)] })
    await end(store, lease, 'a', 'not_found')
    expect(await beginDelete(store, lease, step('b'), { limits: [limitOf(1)] })).toMatchObject({ kind: 'held' })
  })

  test('a window frees its places after an hour, and none when the clock is set back', async ({ store }) => {
    const lease = await claimLease(store, 'evt_1')
    const ask = (key: string, now: number) => beginDelete(store, lease, step(key), { limits: [limitOf(1)], now })
    expect(await ask('a', NOW)).toMatchObject({ kind: 'granted' })
    for (const now of [NOW + HOUR - 1, NOW - 1, NOW - 10 * HOUR]) {
      expect(await ask('b', now), String(now - NOW)).toMatchObject({ kind: 'held' })
    }
    expect(await ask('b', NOW + 1.2 * HOUR)).toMatchObject({ kind: 'granted' })
  })

  test('a clock that is a day ahead for a moment frees nothing that counts once it is right again', async ({
    store,
  }) => {
    const lease = await claimLease(store, 'evt_1')
    const ask = (key: string, now: number, most = 1) =>
      beginDelete(store, lease, step(key), { limits: [limitOf(most)], now })
    expect(await ask('a', NOW)).toMatchObject({ kind: 'granted' })
    expect(await ask('b', NOW + 24 * HOUR)).toMatchObject({ kind: 'granted' })
    expect(await ask('c', NOW + 1, 2)).toMatchObject({ kind: 'held' })
    expect(await ask('c', NOW + 1.2 * HOUR, 2)).toMatchObject({ kind: 'granted' })
  })

  test('what a clock far ahead counted counts for a window from when it is right again', async ({ store }) => {
    const lease = await claimLease(store, 'evt_1')
    const wait = { over: 'wait' } as const
    const limits = [limitOf(2, wait), limitOf(2, { window: 'day', ...wait })]
    const ask = (key: string, now: number) => beginDelete(store, lease, step(key), { limits, now })
    expect(await ask('a', NOW)).toMatchObject({ kind: 'granted' })
    expect(await ask('b', NOW + 1_000 * 24 * HOUR)).toMatchObject({ kind: 'granted' })
    expect(await ask('c', NOW + HOUR)).toMatchObject({ kind: 'held' })
    expect(await ask('c', NOW + 24 * HOUR)).toMatchObject({ kind: 'held' })
    expect(await ask('c', NOW + 26.1 * HOUR)).toMatchObject({ kind: 'granted' })
  })

  test('a delete that begins again may only delete what its last request found', async ({ store }) => {
    const lease = await claimLease(store, 'evt_1')
    const begin = (key: string) => beginDelete(store, lease, step(key), { limits: [limitOf(9)] })
    expect(await begin('a')).toMatchObject({ isRepeated: false, expect: null })
    expect(await begin('a')).toMatchObject({ isRepeated: true, expect: null })
    const seen = { ...A, sha256: 'ab'.repeat(32) }
    await store.noteSeen(lease, 'a', seen)
    expect(await begin('a')).toMatchObject({ isRepeated: true, expect: A })
    await store.saveCheckpoint(lease, { ...step('a'), status: 'waiting', output: null, finishedAt: null })
    expect(await begin('a')).toMatchObject({ isRepeated: true, expect: A })
    const stale = store.noteSeen({ ...lease, fence: lease.fence + 1 }, 'a', { ...seen, bytes: 7 })
    await expect(stale).rejects.toMatchObject({ code: 'stale_lease' })
    expect(await begin('a')).toEqual(expect.objectContaining({ expect: A }))
    // Nothing is there any more, so this attempt saw nothing itself.
    await end(store, lease, 'a', 'already_gone')
    const [ended] = await store.listEffects({ limit: 1 })
    expect(ended).toMatchObject({ phase: 'ended', outcome: 'already_gone', before: JSON.stringify(seen) })
  })

  test('an approved delete that a person lets begin again is for the file as people saw it', async ({ store }) => {
    const lease = await claimLease(store, 'evt_1')
    const ask = { limits: NONE, asked: A }
    await beginDelete(store, lease, step('a'), ask)
    const [open] = await store.listApprovals({ limit: 1, now: NOW })
    await store.decideApproval(await wordOf(store, open?.id ?? ''), NOW)
    expect(await beginDelete(store, lease, step('a'), ask)).toMatchObject({ kind: 'granted', expect: A })
    const error = { name: 'Error', message: 'no luck' }
    await store.saveCheckpoint(lease, { ...step('a'), status: 'failed', output: null, error })
    await store.failRun(lease, error, NOW)
    expect(await store.retryRun(lease.runId, NOW)).toBe(true)
    const again = await claimNext(store)
    const other = { limits: NONE, asked: { ...A, bytes: 7 } }
    const permit = await beginDelete(store, again.lease, step('a'), other)
    expect(permit).toMatchObject({ kind: 'granted', isRepeated: true, expect: A })
  })

  test('bytes are limited by the size that a run saw', async ({ store }) => {
    const lease = await claimLease(store, 'evt_1')
    const limits = [limitOf(150, { what: 'bytes' })]
    expect(await beginDelete(store, lease, step('a'), { limits, asked: A })).toMatchObject({ kind: 'granted' })
    expect(await beginDelete(store, lease, step('b'), { limits, asked: A })).toMatchObject({ kind: 'held' })
  })

  test('a stop holds deletes in its scope from its commit on, over a reopened store', async ({ store, reopen }) => {
    const lease = await claimLease(store, 'evt_1')
    const by = { actor: 'cli:ada', reason: 'the wrong files' }
    expect(await store.stopEffects({ kind: 'workflow', name: 'follow-up', since: NOW, ...by })).toBe(true)
    expect(await store.stopEffects({ kind: 'workflow', name: 'follow-up', since: NOW, ...by })).toBe(false)
    const reason = 'effects of the workflow follow-up are stopped: the wrong files'
    expect(await beginDelete(await reopen(), lease, step('a'))).toEqual({ kind: 'stopped', reason })
    expect(await beginDelete(store, lease, step('a'), { workflow: 'other' })).toMatchObject({ kind: 'granted' })
    await store.parkRun(lease, { dueAt: null, reason, awaits: ['a'] })
    expect(await store.resumeEffects({ kind: 'account', name: 'x' }, { ...by, now: NOW })).toBeNull()
    expect(await store.resumeEffects({ kind: 'workflow', name: 'follow-up' }, { ...by, now: NOW })).toBe(0)
    expect((await store.listEffects({ limit: 9, phases: ['switched'] })).map(({ operation }) => operation)).toEqual([
      'resume',
      'stop',
    ])
  })

  test('a stop also holds an effect that had begun, and its end wakes the run', async ({ store }) => {
    const lease = await claimLease(store, 'evt_1')
    await beginDelete(store, lease, step('a'))
    await store.stopEffects({ kind: 'all', name: '', since: NOW, actor: 'ada', reason: 'no' })
    expect(await beginDelete(store, lease, step('a'))).toMatchObject({ kind: 'stopped' })
    await store.parkRun(lease, { dueAt: null, reason: 'stopped', awaits: ['a'] })
    expect(await store.findRun(lease.runId)).toMatchObject({ status: 'waiting' })
    expect(await store.resumeEffects({ kind: 'all', name: '' }, { actor: 'ada', reason: null, now: NOW })).toBe(1)
    expect(await store.findRun(lease.runId)).toMatchObject({ status: 'pending' })
  })

  test('the ledger tells how a file looked, what became of it, and of which run and step', async ({ store }) => {
    const lease = await claimLease(store, 'evt_1')
    await beginDelete(store, lease, step('a'), { asked: A })
    await end(store, lease, 'a', 'deleted')
    const [{ seq: eventSeq } = { seq: 0 }] = await store.listEvents({ limit: 1 })
    const about = { target: 'storage_a:a', path: '/a.mov', bytes: 100, runId: lease.runId, step: 'a', eventSeq }
    const rows = await store.listEffects({ target: 'storage_a:a', limit: 10 })
    expect(rows).toMatchObject([
      { phase: 'ended', ofSeq: 1, outcome: 'deleted', proof: 'reply', ...about },
      { phase: 'begun', seq: 1, asked: JSON.stringify(A), account: 'default', workflow: 'follow-up', ...about },
    ])
    expect(await store.listEffects({ path: '/a.mov', limit: 10 })).toEqual(rows)
  })

  test('the ledger names the code of each run, also of two that began at the same time', async ({ store }) => {
    for (const name of ['first', 'second']) {
      const lease = await claimLease(store, `evt_${name}`)
      await store.saveCheckpoint(lease, checkpoint('look'), undefined, { codeHash: `code of the ${name}` })
      await beginDelete(store, lease, step(name), { asked: A })
    }
    expect(await store.listEffects({ after: 0, limit: 10 })).toMatchObject([
      { step: 'first', code: 'code of the first' },
      { step: 'second', code: 'code of the second' },
    ])
  })

  test('the ledger keeps the state that a delete requires, and the one that its look found', async ({ store }) => {
    const lease = await claimLease(store, 'evt_1')
    const expected = { path: '/a.mov', bytes: null, modifiedAt: null }
    await beginDelete(store, lease, step('a'), { asked: A, expect: expected })
    const before = JSON.stringify({ ...A, sha256: 'ab'.repeat(32) })
    const output = JSON.stringify({ outcome: 'deleted', proof: 'reply' })
    await store.saveCheckpoint(lease, { ...step('a'), output }, undefined, { effect: { input: null, before } })
    await beginDelete(store, lease, step('b'), { limits: NONE, asked: A, expect: expected })
    const [approval] = await store.listApprovals({ limit: 1, now: NOW })
    const id = approval?.id ?? ''
    await store.decideApproval(await wordOf(store, id), NOW)
    await beginDelete(store, lease, step('b'), { limits: NONE, asked: A, expect: expected })
    expect(await store.listEffects({ class: 'delete', after: 0, limit: 10 })).toMatchObject([
      { phase: 'begun', step: 'a', expect: JSON.stringify(expected), before: null },
      { phase: 'ended', step: 'a', expect: null, before },
      { phase: 'begun', step: 'b', expect: JSON.stringify(A), approval: id },
    ])
  })

  test('a write is in the ledger where it names a target, and a read never', async ({ store }) => {
    const lease = await claimLease(store, 'evt_1')
    await store.saveCheckpoint(lease, checkpoint('note'))
    await store.saveCheckpoint(lease, checkpoint('look', { effect: 'read', target: 'x', position: 1 }))
    await store.saveCheckpoint(lease, checkpoint('send', { target: 'https://hooks', position: 2 }))
    expect(await store.listEffects({ limit: 10 })).toMatchObject([
      {
        phase: 'done',
        class: 'write',
        operation: 'send',
        target: 'https://hooks',
        outcome: 'done',
        runId: lease.runId,
      },
    ])
  })

  test('a write without a target is in the ledger where it says so', async ({ store }) => {
    const lease = await claimLease(store, 'evt_1')
    const effect = { input: null, isUntargeted: true } as const
    await store.saveCheckpoint(lease, checkpoint('note'), undefined, { effect })
    await store.saveCheckpoint(lease, checkpoint('made', { position: 1 }), undefined, { effect: { input: '{}' } })
    const about = { class: 'write', target: null, outcome: 'done', runId: lease.runId }
    expect(await store.listEffects({ limit: 10 })).toMatchObject([{ phase: 'done', operation: 'note', ...about }])
  })

  test('a call past the ledger has one row for each run, call and place in it, in any process', async () => {
    const { store, reopen } = await open()
    const act = { at: NOW, call: 'fetch PUT', where: 'outside', host: 'a.example', step: null } as const
    const of = { run: 'run_1', workflow: 'tidy', place: 'tidy.workflow.ts:1:2' }
    await store.noteOutside({ ...act, ...of })
    await (await reopen()).noteOutside({ ...act, ...of, at: NOW + 1, place: 'tidy.workflow.ts:9:9' })
    await store.noteOutside({ ...act, ...of, where: 'after', step: 'a' })
    await store.noteOutside({ ...act, ...of, run: 'run_2' })
    await store.noteOutside({ ...act, ...of, where: 'on_load', run: null, workflow: null })
    const rows = await store.listEffects({ phases: ['noted'], limit: 9 })
    const noted = { class: 'guard', operation: 'fetch PUT', target: 'a.example', proof: of.place }
    expect(rows.toReversed()).toMatchObject([
      { ...noted, at: NOW, runId: 'run_1', workflow: 'tidy', step: null, outcome: 'outside' },
      { ...noted, runId: 'run_1', step: 'a', outcome: 'after' },
      { ...noted, runId: 'run_2', outcome: 'outside' },
      { ...noted, runId: null, workflow: null, outcome: 'on_load' },
    ])
  })

  test('an outdated lease gets no permit, and counts nothing', async ({ store }) => {
    const lease = await claimLease(store, 'evt_1')
    await store.cancelRun(lease.runId, 'by hand', NOW)
    await expect(beginDelete(store, lease, step('a'))).rejects.toMatchObject({ code: 'stale_lease' })
    expect(await store.listGuardUse(NOW)).toEqual([])
  })

  test('a held run that is canceled takes its items back', async ({ store }) => {
    const lease = await claimLease(store, 'evt_1')
    await beginDelete(store, lease, step('a'), { limits: NONE })
    await store.cancelRun(lease.runId, 'by hand', NOW)
    expect(await store.listApprovals({ limit: 1, now: NOW })).toMatchObject([{ status: 'withdrawn', openItems: 0 }])
  })

  test('runs that the guard holds ask again when they are told to, as after a raised limit', async ({ store }) => {
    const lease = await claimLease(store, 'evt_1')
    await beginDelete(store, lease, step('a'), { limits: NONE })
    await store.parkRun(lease, { dueAt: NOW + HOUR, reason: 'held', awaits: ['a'] })
    expect(await store.askAgain()).toBe(1)
    const again = await claimNext(store, NOW)
    expect(await beginDelete(store, again.lease, step('a'), { limits: [limitOf(1)] })).toMatchObject({
      kind: 'granted',
    })
  })
})
