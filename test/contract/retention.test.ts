import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import type { PruneKind } from '../../src/core/store/retention.ts'
import type { Store } from '../../src/core/store/store.ts'
import { checkpoint, incoming, NOW, queueRun } from '../support/fixtures.ts'
import { lastAt, saveLine } from '../support/lines.ts'
import { describeStores } from './describe-stores.ts'
import { arrive, askAdmission, batch, debounce } from './support/ask-admission.ts'
import { beginDelete } from './support/begin-delete.ts'
import { claimNext } from './support/claim-next.ts'
import { countPrunable } from './support/count-prunable.ts'

const DAY = 86_400_000
const LATER = NOW + 10 * DAY

/** Prunes all slices of one kind, as foreseen, and returns how much each pruned. */
async function pruneAll(store: Store, kind: PruneKind, limit = 1_000, before = LATER): Promise<number[]> {
  const foreseen = await countPrunable(store, kind, { before })
  const slices: number[] = []
  for (let after: string | null = null; slices.length < 1_000; ) {
    const { pruned, next } = await store.prune({ kind, before, limit, after })
    slices.push(pruned)
    if (next === null) {
      expect(foreseen).toMatchObject({ rows: slices.reduce((sum, count) => sum + count), isComplete: true })
      return slices
    }
    after = next
  }
  throw new Error('pruning does not end')
}

async function finishRun(store: Store, eventId: string, end: 'complete' | 'fail', steps = 1): Promise<string> {
  const id = await queueRun(store, eventId)
  const run = await claimNext(store)
  for (let n = 0; n < steps; n++) {
    const error = { name: 'Error', message: 'once' }
    await store.saveCheckpoint(run.lease, checkpoint(`s${n}`, { position: n }), {
      key: `s${n}`,
      attempt: 1,
      at: NOW,
      error,
    })
  }
  if (end === 'complete') await store.completeRun(run.lease, 'null', NOW)
  else await store.failRun(run.lease, { name: 'Error', message: '' }, NOW)
  return id
}

async function claimFor(store: Store) {
  await queueRun(store, `evt_${crypto.randomUUID()}`)
  return (await claimNext(store)).lease
}

describeStores((test) => {
  test('pruning removes finished runs with their steps, and failed ones by their own bound', async ({ store }) => {
    const completed = await finishRun(store, 'evt_1', 'complete')
    const failed = await finishRun(store, 'evt_2', 'fail')
    const pending = await queueRun(store, 'evt_3')
    expect(await pruneAll(store, 'runs')).toEqual([1])
    expect(await store.findRun(completed)).toBeNull()
    expect(await store.listSteps(completed)).toEqual([])
    expect(await store.listStepFailures(completed)).toEqual([])
    expect(await store.findRun(failed)).not.toBeNull()
    expect(await pruneAll(store, 'failures')).toEqual([1])
    expect((await store.listRuns({ limit: 10 })).map(({ id }) => id)).toEqual([pending])
    expect(await store.listEvents({ limit: 10 })).toHaveLength(3)
  })

  test('pruning removes the counters of the deletes of a run, which name its folders', async ({ store }) => {
    const run = await claimFor(store)
    const below = (folder: string) => ({ asked: { path: `${folder}/a.pdf`, bytes: 1, modifiedAt: null } })
    for (const key of ['a', 'b']) await beginDelete(store, run, checkpoint(key), below('/in/quint'))
    await store.completeRun(run, 'null', NOW)
    const kept = await claimFor(store)
    await beginDelete(store, kept, checkpoint('c'), below('/in/other'))
    const find = async (text: string) =>
      (await store.findTexts({ words: { kind: 'path', text }, table: 'guard_use', after: null })).found
    expect(await find('/in')).toHaveLength(4)
    expect(await find('/in/quint')).toHaveLength(1)
    expect(await pruneAll(store, 'runs', 2)).toEqual(expect.arrayContaining([1]))
    expect(await find('/in')).toHaveLength(2)
    expect(await find('/in/quint')).toEqual([])
  })

  test('pruning removes large outputs with their run, however small the slices are', async ({ store }) => {
    const id = await queueRun(store)
    const run = await claimNext(store)
    const packed = await store.packOutput(JSON.stringify('x'.repeat(100_000)))
    for (const [position, key] of ['a', 'b'].entries()) {
      const step = checkpoint(key, { position, output: null, apartBytes: packed.bytes })
      await store.saveCheckpoint(run.lease, step, undefined, { packed: packed.data })
    }
    await store.completeRun(run.lease, packed, NOW)
    await pruneAll(store, 'runs', 2)
    await pruneAll(store, 'runs', 2)
    expect(await store.findRun(id)).toBeNull()
    for (const key of ['a', 'b', null]) {
      await expect(store.readOutput(id, key)).rejects.toMatchObject({ code: 'not_found' })
    }
  })

  test('operations on many runs that are over go with the audit log, with their refusals', async ({ store }) => {
    const operator = { actor: 'ann', role: 'operator', from: '', reason: null } as const
    const plan = { kind: 'cancel', filter: {}, operator, perSecond: null, createdAt: NOW } as const
    const ids = Array.from({ length: 6 }, () => newId('opr', NOW))
    for (const id of ids) await store.startBulk({ id, ...plan })
    const [first = '', , , , late = '', open = ''] = ids
    const slice = { id: first, owner: 'me', after: null, next: null }
    await store.claimBulk('me', NOW)
    await store.countBulk(slice, { total: 1, runs: 1, first: [] }, NOW)
    await store.performBulk({ ...slice, targets: ['run_missing'] }, NOW)
    for (const id of ids.slice(1, 4)) await store.abortBulk(id, NOW)
    await store.abortBulk(late, LATER)
    expect(await store.listBulkRefusals(first)).toHaveLength(1)
    const actions = (await store.listActions({ limit: 99 })).length
    const pruned = await pruneAll(store, 'audit')
    const left = (await store.listActions({ limit: 99 })).length
    // Four operations, and a refusal of one.
    expect(pruned.reduce((sum, count) => sum + count)).toBe(actions - left + 5)
    expect((await store.listBulks({ limit: 9 })).map(({ id }) => id)).toEqual([open, late])
    expect(await store.listBulkRefusals(first)).toEqual([])
  })

  test('a run that was only planned goes with its plan, as a completed one does', async ({ store }) => {
    const id = await queueRun(store)
    const run = await claimNext(store)
    const plan = await store.packOutput(JSON.stringify('x'.repeat(100_000)))
    await store.endPlanned(run.lease, { reason: 'would complete', plan }, NOW)
    expect(await pruneAll(store, 'failures')).toEqual([0])
    await pruneAll(store, 'runs')
    expect(await store.findRun(id)).toBeNull()
    await expect(store.readOutput(id, null)).rejects.toMatchObject({ code: 'not_found' })
  })

  test('one slice of pruning removes a few large outputs, however many rows it may delete', async ({ store }) => {
    const id = await queueRun(store)
    const { lease } = await claimNext(store)
    const packed = await store.packOutput(JSON.stringify(randomBytes(4_500_000).toString('base64')))
    for (const [position, key] of ['a', 'b'].entries()) {
      const step = checkpoint(key, { position, output: null, apartBytes: packed.bytes })
      await store.saveCheckpoint(lease, step, undefined, { packed: packed.data })
    }
    await store.completeRun(lease, 'null', NOW)
    const first = await store.prune({ kind: 'runs', before: LATER, limit: 400, after: null })
    expect(first).toMatchObject({ pruned: 1, next: id })
    await expect(store.readOutput(id, 'a')).rejects.toMatchObject({ code: 'not_found' })
    expect(await store.readOutput(id, 'b')).toHaveLength(6_000_002)
    expect(await pruneAll(store, 'runs')).toEqual([0])
    await expect(store.readOutput(id, 'b')).rejects.toMatchObject({ code: 'not_found' })
  })

  test('one slice of pruning removes a few runs with a large input, however many it may delete', async ({ store }) => {
    const [first, failed, last] = [newId('run', NOW), newId('run', NOW + 1), newId('run', NOW + 2)]
    for (const run of [first, failed, last]) {
      const input = JSON.stringify('x'.repeat(3_000_000))
      await store.startRun({ run, workflow: 'told', account: 'default', input, createdAt: NOW })
      if (run !== failed) await store.completeRun((await claimNext(store)).lease, 'null', NOW)
      else await store.failRun((await claimNext(store)).lease, { name: 'Error', message: '' }, NOW)
    }
    expect(await pruneAll(store, 'runs')).toEqual([1, 1])
    expect((await store.listRuns({ limit: 9 })).map(({ id }) => id)).toEqual([failed])
  })

  test('a run with many steps is pruned in small commits, the run itself first', async ({ store }) => {
    const id = await finishRun(store, 'evt_1', 'complete', 25)
    const first = await store.prune({ kind: 'runs', before: LATER, limit: 10, after: null })
    expect(first).toMatchObject({ pruned: 1, next: id })
    expect(await store.findRun(id)).toBeNull()
    const left = (await store.listSteps(id)).length
    expect(left).toBeGreaterThanOrEqual(15)
    // A process that begins again, as after a crash, deletes the remaining steps.
    expect((await pruneAll(store, 'runs', 10)).length).toBeGreaterThan(3)
    expect(await store.listSteps(id)).toEqual([])
    expect(await store.listStepFailures(id)).toEqual([])
  })

  test('a pruned run takes its tick along, and the moment is not recorded again', async ({ store }) => {
    await saveLine(store, 'nightly', NOW - DAY)
    await store.recordTick('nightly', { scheduledFor: NOW, missed: 0 }, NOW)
    const [run] = await store.claimRuns('wrk_1', 1, NOW)
    if (run) await store.completeRun(run.lease, 'null', NOW)
    expect(await pruneAll(store, 'runs')).toEqual([1])
    expect(await lastAt(store, 'nightly')).toBe(NOW)
  })

  test('pruning removes refusals by one bound and other deliveries by another', async ({ store }) => {
    await store.saveDelivery(incoming('evt_1'))
    for (const n of [1, 2, 3]) {
      const id = `dlv_${'0'.repeat(22)}${n}`
      await store.saveRefusal({ id, endpointId: null, receivedAt: NOW, verdict: 'stale', bodyBytes: 1, facts: {} })
    }
    expect(await pruneAll(store, 'refusals', 2)).toEqual([2, 1, 0])
    expect(await store.tallyRefusals()).toEqual([{ verdict: 'stale', listed: 0, dropped: 3 }])
    expect(await store.listDeliveries({ limit: 10 })).toMatchObject([{ verdict: 'accepted' }])
    expect(await pruneAll(store, 'deliveries', 10, NOW)).toEqual([0])
    expect(await pruneAll(store, 'deliveries')).toEqual([1])
  })

  test('pruning removes bodies that no unfinished run needs, and keeps every event known', async ({ store }) => {
    await finishRun(store, 'evt_1', 'complete')
    await finishRun(store, 'evt_3', 'fail')
    await queueRun(store, 'evt_2')
    await store.saveDelivery(incoming('evt_4', { receivedAt: LATER, workflows: [] }))
    expect((await pruneAll(store, 'payloads', 2)).reduce((sum, n) => sum + n)).toBe(2)
    const bodies = Object.fromEntries((await store.listEvents({ limit: 9 })).map(({ id, body }) => [id, body !== '']))
    expect(bodies).toEqual({ evt_1: false, evt_2: true, evt_3: false, evt_4: true })
    expect((await store.saveDelivery(incoming('evt_1'))).verdict).toBe('duplicate')
    const other = incoming('evt_1', { data: { file: { id: 'fil_other' } } })
    expect((await store.saveDelivery(other)).verdict).toBe('conflict')
    const replay = store.replayEvent({ id: 'evt_1', account: 'default' }, ['follow-up'], NOW)
    await expect(replay).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('pruned') })
  })

  test('a body stays while the run at the end of a chain of folded runs is unfinished', async ({ store }) => {
    for (const id of ['evt_1', 'evt_2', 'evt_3']) await askAdmission(store, await arrive(store, id), { fold: debounce })
    expect(await pruneAll(store, 'payloads')).toEqual([0])
    expect(await pruneAll(store, 'runs')).toEqual([0])
    await store.cancelRun((await store.listRuns({ limit: 1 }))[0]?.id ?? '', 'by hand', NOW)
    expect(await pruneAll(store, 'payloads')).toEqual([3])
  })

  test('a fork of a failed batch keeps the runs and bodies of its events, also of a fork that is gone', async ({
    store,
  }) => {
    const fold = { ...batch, size: 2 }
    await askAdmission(store, await arrive(store, 'evt_1'), { fold })
    const joined = await arrive(store, 'evt_2')
    await askAdmission(store, joined, { fold })
    const full = (await claimNext(store)).lease
    await store.failRun(full, { name: 'Error', message: '' }, NOW, true)
    const failure = (await claimNext(store)).lease
    const eventsOf = async (run: string) => (await store.listRunEvents(run)).map(({ id, body }) => [id, body !== ''])
    const both = [
      ['evt_1', true],
      ['evt_2', true],
    ]
    const prune = async () => {
      const kinds = ['payloads', 'runs', 'failures', 'runs'] as const
      return (await Array.fromAsync(kinds, (kind) => pruneAll(store, kind))).flat()
    }
    expect(await prune()).toEqual([0, 0, 1, 0])
    expect(await eventsOf(failure.runId)).toEqual(both)
    await store.completeRun(failure, 'null', NOW)
    const fork = await store.forkRun(failure.runId, { keys: [], edited: null }, NOW)
    expect(await prune()).toEqual([0, 1, 0, 0])
    expect(await store.findRun(failure.runId)).toBeNull()
    expect(await eventsOf(fork)).toEqual(both)
    await store.completeRun((await claimNext(store)).lease, 'null', NOW)
    // A run that was folded goes after those that have its event.
    expect(await prune()).toEqual([2, 1, 0, 1])
    expect(await store.findRun(joined.lease.runId)).toBeNull()
  })

  test('one slice of pruning removes a few large bodies, however many events it may read', async ({ store }) => {
    const large = { note: 'n'.repeat(1_500_000) }
    for (const n of [1, 2, 3, 4, 5]) await store.saveDelivery(incoming(`evt_${n}`, { data: large, workflows: [] }))
    await store.saveDelivery(incoming('evt_6', { data: { note: 'n'.repeat(6_000_000) }, workflows: [] }))
    expect(await pruneAll(store, 'payloads')).toEqual([2, 2, 1, 1])
    expect((await store.listEvents({ limit: 9 })).every(({ body }) => body === '')).toBe(true)
  })

  test('a count before a prune ends at its limit, from the oldest row on, and changes nothing', async ({ store }) => {
    for (const n of [1, 2, 3]) await finishRun(store, `evt_${n}`, n === 3 ? 'fail' : 'complete')
    await queueRun(store, 'evt_4')
    for (const n of [1, 2, 3]) {
      const verdict = n === 1 ? 'stale' : 'bad_signature'
      const id = `dlv_${'0'.repeat(22)}${n}`
      await store.saveRefusal({ id, endpointId: null, receivedAt: NOW, verdict, bodyBytes: 1, facts: {} })
    }
    const count = (kind: PruneKind, limit: number) => countPrunable(store, kind, { before: LATER, limit })
    const rows = { bytes: null, weeks: null }
    expect(await count('runs', 1)).toEqual({ rows: 1, isComplete: false, ...rows })
    expect(await count('runs', 9)).toEqual({ rows: 2, isComplete: true, ...rows })
    expect(await count('failures', 9)).toEqual({ rows: 1, isComplete: true, ...rows })
    expect(await count('refusals', 2)).toEqual({ rows: 2, isComplete: false, ...rows })
    expect(await count('refusals', 9)).toEqual({ rows: 3, isComplete: true, ...rows })
    expect(await count('deliveries', 99)).toEqual({ rows: 4, isComplete: true, ...rows })
    expect(await count('payloads', 2)).toMatchObject({ rows: 2, isComplete: false })
    const bodies = await count('payloads', 9)
    const sizes = (await store.listEvents({ limit: 9 })).map(({ id, body }) => (id === 'evt_4' ? 0 : body.length))
    expect(bodies).toEqual({ rows: 3, isComplete: true, bytes: sizes.reduce((sum, size) => sum + size), weeks: null })
    expect(await count('payloads', 9)).toEqual(bodies)
    expect(await count('audit', 9)).toEqual({ rows: 0, isComplete: true, ...rows })
    expect(await store.listRuns({ limit: 9 })).toHaveLength(4)
    expect(await store.listDeliveries({ limit: 9 })).toHaveLength(7)
  })
})
