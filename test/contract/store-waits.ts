import { expect, test } from 'vitest'
import type { Lease } from '../../src/core/runs/lease.ts'
import type { EventKey } from '../../src/core/runs/matching.ts'
import type { EventWait, Invocation } from '../../src/core/runs/wait.ts'
import type { Store } from '../../src/core/store/store.ts'
import { checkpoint, eventBody, incoming, NOW, queueRun } from '../support/fixtures.ts'
import type { OpenStore } from './open-store.ts'

const wait: EventWait = {
  account: 'default',
  type: 'file.moved',
  name: 'file',
  value: 'fil_1',
  version: 'v1',
  since: 'now',
  at: NOW,
}
const WAITING = checkpoint('moved', {
  kind: 'wait',
  status: 'waiting',
  output: null,
  finishedAt: null,
  dueAt: NOW + 1_000,
})
const PARK = { dueAt: NOW + 1_000, reason: 'waits', awaits: ['moved'] }

async function claim(store: Store, eventId = 'evt_1'): Promise<Lease> {
  await queueRun(store, eventId)
  const [run] = await store.claimRuns('wrk_1', 1, NOW)
  if (!run) throw new Error('a run was queued')
  return run.lease
}

/** A run that waits for the key, parked or still at work. */
async function waitingRun(store: Store, part: Partial<EventWait> = {}, isParked = true): Promise<Lease> {
  const lease = await claim(store, `evt_of_${Math.random()}`)
  await store.saveCheckpoint(lease, WAITING, undefined, { wait: { ...wait, ...part } })
  if (isParked) await store.parkRun(lease, PARK)
  return lease
}

/** Stores an event that starts nothing and gives its number. */
async function addEvent(store: Store, id: string): Promise<number> {
  await store.saveDelivery(incoming(id, { workflows: [], body: eventBody(id, 'file.moved', {}) }))
  return (await store.listMatchCursors()).newest
}

/** Matches everything up to the newest event, with one value for the events named. */
async function match(store: Store, values: Record<number, string>) {
  const { cursors, newest } = await store.listMatchCursors()
  const cursor = cursors.find(({ isOpen, version }) => isOpen && version === wait.version)
  if (!cursor) throw new Error('nobody waits')
  const keys: EventKey[] = Object.entries(values)
    .map(([seq, value]) => ({ cursor: cursor.id, seq: Number(seq), account: 'default', value, event: `evt_${seq}` }))
    .filter(({ seq }) => seq > cursor.position)
  return store.saveMatches({ cursors: [cursor], from: cursor.position, to: newest, keys }, NOW)
}

const statusOf = async (store: Store, { runId }: Lease) => (await store.findRun(runId))?.status

export function describeWaits(open: OpenStore): void {
  test('wakes the parked run whose value fits, once, and gives it the event', async () => {
    const { store } = open()
    const lease = await waitingRun(store)
    const other = await waitingRun(store, { value: 'fil_2' })
    const foreign = await waitingRun(store, { account: 'other' })
    const seq = await addEvent(store, 'evt_fits')
    expect(await store.findMatch(lease.runId, 'moved')).toBeNull()
    expect(await match(store, { [seq]: 'fil_1' })).toEqual({ woken: 1, canceled: [] })
    expect(await store.findMatch(lease.runId, 'moved')).toMatchObject({ id: 'evt_fits' })
    expect([await statusOf(store, lease), await statusOf(store, other), await statusOf(store, foreign)]).toEqual([
      'pending',
      'waiting',
      'waiting',
    ])
    const [run] = await store.claimRuns('wrk_1', 5, NOW)
    expect(run).toMatchObject({ lease: { runId: lease.runId }, isFirstPass: false })
  })

  test('a run that parks after its event has come is pending at once', async () => {
    const { store } = open()
    const lease = await waitingRun(store, {}, false)
    const seq = await addEvent(store, 'evt_fits')
    expect(await match(store, { [seq]: 'fil_1' })).toEqual({ woken: 0, canceled: [] })
    await store.parkRun(lease, PARK)
    expect(await store.findRun(lease.runId)).toMatchObject({
      status: 'pending',
      awaits: false,
      dueAt: null,
      reason: null,
    })
  })

  test('leaves a run alone that is parked for something else', async () => {
    const { store } = open()
    const lease = await waitingRun(store, {}, false)
    await store.parkRun(lease, { dueAt: null, reason: 'for a person' })
    const seq = await addEvent(store, 'evt_fits')
    await match(store, { [seq]: 'fil_1' })
    expect(await store.findRun(lease.runId)).toMatchObject({ status: 'waiting', reason: 'for a person' })
  })

  test('a run that was claimed at its moment is not woken in its next wait by the old one', async () => {
    const { store } = open()
    const lease = await waitingRun(store)
    const [again] = await store.claimRuns('wrk_1', 1, NOW + 1_000)
    if (!again) throw new Error('it was due')
    await store.parkRun(again.lease, { dueAt: null, reason: 'for a person' })
    const seq = await addEvent(store, 'evt_fits')
    await match(store, { [seq]: 'fil_1' })
    expect(await statusOf(store, lease)).toBe('waiting')
  })

  test('a batch that another process was faster with changes nothing', async () => {
    const { store, reopen } = open()
    await waitingRun(store)
    const seq = await addEvent(store, 'evt_fits')
    const { cursors } = await store.listMatchCursors()
    const [cursor] = cursors
    if (!cursor) throw new Error('it is watched')
    const keys = [{ cursor: cursor.id, seq, account: 'default', value: 'fil_1', event: 'evt_fits' }]
    const batch = { cursors: [cursor], from: cursor.position, to: seq, keys }
    const results = await Promise.all([store.saveMatches(batch, NOW), reopen().saveMatches(batch, NOW)])
    expect(results.map(({ woken }) => woken).sort()).toEqual([0, 1])
    expect((await store.listMatchCursors()).cursors).toMatchObject([{ position: seq }])
  })

  test('a batch that began before an older run set the cursor back does not pass over what that one waits for', async () => {
    const { store } = open()
    const older = await claim(store, 'evt_older')
    const early = await addEvent(store, 'evt_early')
    await waitingRun(store, { value: 'something else' })
    const late = await addEvent(store, 'evt_late')
    const [cursor] = (await store.listMatchCursors()).cursors
    if (!cursor) throw new Error('it is watched')
    await store.saveCheckpoint(older, WAITING, undefined, { wait: { ...wait, since: 'run' } })
    const keys = [{ cursor: cursor.id, seq: late, account: 'default', value: 'fil_1', event: 'evt_late' }]
    await store.saveMatches({ cursors: [cursor], from: cursor.position, to: late, keys }, NOW)
    expect(await store.findMatch(older.runId, 'moved')).toBeNull()
    await match(store, { [early]: 'fil_1', [late]: 'fil_1' })
    expect(await store.findMatch(older.runId, 'moved')).toMatchObject({ id: 'evt_early' })
  })

  test('an event from before the wait does not count, one from after the run was made does if asked for', async () => {
    const { store } = open()
    const early = await claim(store, 'evt_early')
    const late = await claim(store, 'evt_late')
    const seq = await addEvent(store, 'evt_between')
    await store.saveCheckpoint(early, WAITING, undefined, { wait })
    await store.saveCheckpoint(late, WAITING, undefined, { wait: { ...wait, since: 'run' } })
    for (const lease of [early, late]) await store.parkRun(lease, PARK)
    expect(await match(store, { [seq]: 'fil_1' })).toMatchObject({ woken: 1 })
    expect([await statusOf(store, early), await statusOf(store, late)]).toEqual(['waiting', 'pending'])
  })

  test('finds what is matched already at once, the first of several', async () => {
    const { store } = open()
    const lease = await claim(store, 'evt_early')
    await waitingRun(store, { value: 'something else' })
    const first = await addEvent(store, 'evt_first')
    const second = await addEvent(store, 'evt_second')
    await match(store, { [first]: 'fil_1', [second]: 'fil_1' })
    const { cursors } = await store.listMatchCursors()
    await store.saveCheckpoint(lease, WAITING, undefined, { wait: { ...wait, since: 'run' } })
    const later = (await store.listMatchCursors()).cursors
    // The run is older than the cursor: everything since then is matched again, in order.
    expect(later[0]?.position).toBeLessThan(cursors[0]?.position ?? 0)
    await match(store, { [first]: 'fil_1', [second]: 'fil_1' })
    expect(await store.findMatch(lease.runId, 'moved')).toMatchObject({ id: 'evt_first' })
    const younger = await claim(store, 'evt_younger')
    const third = await addEvent(store, 'evt_third')
    await addEvent(store, 'evt_fourth')
    await match(store, { [third]: 'fil_1', [third + 1]: 'fil_1' })
    await store.saveCheckpoint(younger, WAITING, undefined, { wait: { ...wait, since: 'run' } })
    expect(await store.findMatch(younger.runId, 'moved')).toMatchObject({ id: 'evt_third' })
  })

  test('passes over events that came while nobody waited', async () => {
    const { store } = open()
    const lease = await waitingRun(store)
    await store.cancelRun(lease.runId, 'by hand', NOW)
    for (let n = 0; n < 5; n++) await addEvent(store, `evt_idle${n}`)
    expect((await store.listMatchCursors()).cursors).toMatchObject([{ isOpen: false }])
    await waitingRun(store)
    const { cursors, newest } = await store.listMatchCursors()
    expect(cursors).toMatchObject([{ isOpen: true, position: newest }])
  })

  test('resolves the waits for one event in slices when thousands wait', async () => {
    const { store } = open()
    const leases = await Promise.all(Array.from({ length: 2_100 }, (_, n) => queueRun(store, `evt_${n}`)))
    const claimed = await store.claimRuns('wrk_1', leases.length, NOW)
    await Promise.all(
      claimed.flatMap(({ lease }) => [
        store.saveCheckpoint(lease, WAITING, undefined, { wait }),
        store.parkRun(lease, PARK),
      ]),
    )
    const seq = await addEvent(store, 'evt_fits')
    const woken: number[] = []
    while ((await store.listMatchCursors()).cursors.some(({ isOpen, position }) => isOpen && position < seq)) {
      woken.push((await match(store, { [seq]: 'fil_1' })).woken)
    }
    expect(woken).toEqual([2_000, 100])
  })

  test('begins a cursor of new functions where the oldest wait does', async () => {
    const { store } = open()
    await waitingRun(store)
    const from = (await store.listMatchCursors()).newest
    await addEvent(store, 'evt_x')
    await store.openMatchCursor({ type: wait.type, name: wait.name, version: 'v2' }, NOW)
    const { cursors } = await store.listMatchCursors()
    expect(cursors.find(({ version }) => version === 'v2')).toMatchObject({ position: from, isOpen: true })
    await waitingRun(store, { version: 'v3' })
    const third = (await store.listMatchCursors()).cursors.find(({ version }) => version === 'v3')
    expect(third).toMatchObject({ position: from })
  })

  test('cancels the run that an event was named for, with its reason', async () => {
    const { store } = open()
    const lease = await claim(store)
    expect(await store.watchRun(lease, [{ ...wait, since: 'run' }], NOW)).toBe(true)
    expect(await store.watchRun(lease, [{ ...wait, since: 'run' }], NOW)).toBe(true)
    const seq = await addEvent(store, 'evt_end')
    const reason = `canceled by event evt_${seq} (file.moved)`
    expect(await match(store, { [seq]: 'fil_1' })).toEqual({
      woken: 0,
      canceled: [{ run: lease.runId, workflow: 'follow-up', reason }],
    })
    expect(await store.findRun(lease.runId)).toMatchObject({ status: 'canceled', reason })
    await expect(store.completeRun(lease, 'null', NOW)).rejects.toMatchObject({ code: 'stale_lease' })
  })

  test('cancels a run at once when its event is known already', async () => {
    const { store } = open()
    await waitingRun(store, { value: 'something else' })
    const lease = await claim(store)
    const seq = await addEvent(store, 'evt_end')
    await match(store, { [seq]: 'fil_1' })
    expect(await store.watchRun(lease, [{ ...wait, since: 'run' }], NOW)).toBe(false)
    expect(await store.findRun(lease.runId)).toMatchObject({
      status: 'canceled',
      reason: expect.stringContaining('evt_end'),
    })
    expect(await store.watchRun({ ...lease, fence: 99 }, [wait], NOW)).toBe(false)
  })

  test('starts a child with the checkpoint of its step and sets the parent going when it ends', async () => {
    for (const end of ['complete', 'fail', 'skip', 'cancel'] as const) {
      const { store } = open()
      const parent = await claim(store)
      const run = `run_child_${end}`
      const invoke: Invocation = { run, workflow: 'child', account: 'other', input: '{"n":1}', createdAt: NOW }
      const step = checkpoint('ask', { kind: 'invoke', status: 'waiting', output: null, finishedAt: null, target: run })
      await store.saveCheckpoint(parent, step, undefined, { invoke })
      await store.saveCheckpoint(parent, step, undefined, { invoke })
      await store.parkRun(parent, { dueAt: null, reason: 'waits for it', awaits: ['ask'] })
      expect(await statusOf(store, parent)).toBe('waiting')
      const claimed = await store.claimRuns('wrk_1', 5, NOW)
      expect(claimed).toMatchObject([
        { workflow: 'child', cause: { kind: 'call', account: 'other', input: '{"n":1}' } },
      ])
      const [child] = claimed
      if (!child) throw new Error('it was started')
      if (end === 'complete') await store.completeRun(child.lease, '2', NOW)
      if (end === 'fail') await store.failRun(child.lease, { name: 'Error', message: 'no' }, NOW)
      if (end === 'skip') await store.skipRun(child.lease, 'not wanted', NOW)
      if (end === 'cancel') await store.cancelRun(run, 'by hand', NOW)
      expect([end, await statusOf(store, parent)]).toEqual([end, 'pending'])
      expect(await store.listRuns({ parentRun: parent.runId, limit: 5 })).toMatchObject([
        { id: run, parentRun: parent.runId, parentStep: 'ask' },
      ])
    }
  })

  test('cancels what a run invoked, and what that invoked', async () => {
    const { store } = open()
    let lease = await claim(store)
    const root = lease.runId
    for (const run of ['run_child', 'run_grandchild']) {
      const invoke: Invocation = { run, workflow: 'child', account: 'default', input: 'null', createdAt: NOW }
      await store.saveCheckpoint(lease, checkpoint('ask', { kind: 'invoke', status: 'waiting' }), undefined, { invoke })
      const [child] = await store.claimRuns('wrk_1', 1, NOW)
      if (child) lease = child.lease
    }
    await store.completeRun(lease, 'null', NOW)
    expect(await store.cancelRun(root, 'by hand', NOW)).toBe(true)
    expect(await store.findRun('run_child')).toMatchObject({
      status: 'canceled',
      reason: expect.stringContaining(root),
    })
    expect(await store.findRun('run_grandchild')).toMatchObject({ status: 'completed' })
  })

  test('makes an event and its runs with the checkpoint of its step, or not at all', async () => {
    const { store } = open()
    const lease = await claim(store)
    const body = eventBody('evt_own', 'order.shipped')
    const send = {
      id: 'evt_own',
      type: 'order.shipped',
      account: 'default',
      createdAt: NOW,
      body,
      workflows: ['a', 'b'],
    }
    const stale = store.saveCheckpoint({ ...lease, fence: 99 }, checkpoint('tell'), undefined, { send })
    await expect(stale).rejects.toMatchObject({ code: 'stale_lease' })
    expect(await store.listEvents({ limit: 5, type: 'order.shipped' })).toEqual([])
    await store.saveCheckpoint(lease, checkpoint('tell', { kind: 'send' }), undefined, { send })
    await store.saveCheckpoint(lease, checkpoint('tell', { kind: 'send' }), undefined, { send })
    expect(await store.listEvents({ limit: 5, type: 'order.shipped' })).toMatchObject([
      { id: 'evt_own', origin: 'send', body },
    ])
    expect(await store.claimRuns('wrk_1', 5, NOW)).toMatchObject([{ workflow: 'a' }, { workflow: 'b' }])
  })

  test('forgets what a run waited for when it ends', async () => {
    const { store } = open()
    const ends = [
      (lease: Lease) => store.completeRun(lease, 'null', NOW),
      (lease: Lease) => store.failRun(lease, { name: 'Error', message: 'no' }, NOW),
      (lease: Lease) => store.skipRun(lease, 'no', NOW),
      (lease: Lease) => store.cancelRun(lease.runId, 'no', NOW),
      (lease: Lease) => store.saveCheckpoint(lease, WAITING, undefined, { isSettled: true }),
    ]
    for (const end of ends) {
      const lease = await waitingRun(store, {}, false)
      expect((await store.listMatchCursors()).cursors).toMatchObject([{ isOpen: true }])
      await end(lease)
      expect((await store.listMatchCursors()).cursors).toMatchObject([{ isOpen: false }])
    }
  })

  test('lists events by number, of some types or of all', async () => {
    const { store } = open()
    await queueRun(store, 'evt_1')
    const second = await addEvent(store, 'evt_2')
    await queueRun(store, 'evt_3')
    const ids = async (query: Parameters<Store['listEventsAfter']>[0]) =>
      (await store.listEventsAfter(query)).map((event) => event.id)
    expect(await ids({ after: 0, upTo: 99, types: null })).toEqual(['evt_1', 'evt_2', 'evt_3'])
    expect(await ids({ after: 0, upTo: 99, types: ['file.moved'] })).toEqual(['evt_2'])
    expect(await ids({ after: second, upTo: second + 1, types: null })).toEqual(['evt_3'])
  })
}
