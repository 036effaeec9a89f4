import type pg from 'pg'
import { expect, test } from 'vitest'
import type { ClaimedRun } from '../../../../src/core/runs/claim.ts'
import type { Lease } from '../../../../src/core/runs/lease.ts'
import type { EventWait } from '../../../../src/core/runs/wait.ts'
import type { Store } from '../../../../src/core/store/store.ts'
import { arrive, askAdmission, concurrency, singleton } from '../../../contract/support/ask-admission.ts'
import { claimNext } from '../../../contract/support/claim-next.ts'
import {
  addEvent,
  claimLease,
  invoke,
  match,
  WAIT,
  WAITING,
  waitingRun,
} from '../../../contract/support/waiting-runs.ts'
import { wordOf } from '../../../contract/support/word-of.ts'
import { checkpoint, NOW } from '../../../support/fixtures.ts'
import { awaitBlocked, openTwo } from '../support/open-two.ts'

/**
 * Has the session hold `first`, for which a call then waits. The call may not hold `second` yet:
 * others lock that behind the first.
 */
async function expectOrder(session: pg.Client, first: string, second: string, call: () => Promise<unknown>) {
  await session.query('BEGIN')
  await session.query(`${first} FOR UPDATE`)
  const done = call()
  expect(await Promise.race([awaitBlocked(session), done.then(() => 'it never waited')])).toHaveLength(1)
  const held = session.query(`${second} FOR UPDATE NOWAIT`)
  await held.finally(() => session.query('ROLLBACK'))
  await done
}

/** A run that an event cancels. */
async function watchingRun(store: Store, part: Partial<EventWait> = {}): Promise<Lease> {
  const lease = await claimLease(store, `evt_of_${Math.random()}`)
  await store.watchRun(lease, [{ ...WAIT, ...part }], NOW)
  return lease
}

const rowOf = (runId: string) => `SELECT 1 FROM work WHERE run_id = '${runId}'`
const CURSORS = 'SELECT 1 FROM match_cursor'
const lockOf = (name: string) =>
  `SELECT pg_advisory_xact_lock(hashtextextended('${name} ' || current_schema(), 0)) FROM stream`
const GATE = lockOf('["follow-up","concurrency-1","a"]')
const TICKS = lockOf('["tick","nightly"]')

test('a run that begins to wait has the cursors of its events before its row', async () => {
  const { one, session } = await openTwo()
  await waitingRun(one)
  const lease = await claimLease(one)
  const wait = () => one.saveCheckpoint(lease, WAITING, undefined, { wait: WAIT })
  await expectOrder(session, CURSORS, rowOf(lease.runId), wait)
  const watch = () => one.watchRun(lease, [WAIT], NOW)
  await expectOrder(session, CURSORS, rowOf(lease.runId), watch)
})

test('a run that ends has the row of the run that waits for it before its own', async () => {
  const { one, session } = await openTwo()
  const parent = await claimLease(one)
  await invoke(one, parent, { run: 'run_child' })
  const child = (await claimNext(one)).lease
  const successor = { run: 'run_successor', account: 'default', input: 'null', received: {} }
  const goOn = () => one.continueRun(child, successor, NOW)
  await expectOrder(session, rowOf(parent.runId), rowOf(child.runId), goOn)
  const cancel = () => one.cancelRun(successor.run, 'by hand', NOW)
  await expectOrder(session, rowOf(parent.runId), rowOf(successor.run), cancel)
})

test('a tick in line that is canceled lets no other tick of its schedule wait for its row', async () => {
  const { one, session } = await openTwo()
  await one.recordTick('nightly', { scheduledFor: NOW, missed: 0 }, NOW)
  const queued = await one.recordTick('nightly', { scheduledFor: NOW + 1, missed: 0 }, NOW, { overlap: 'queue' })
  await expectOrder(session, TICKS, rowOf(queued ?? ''), () => one.cancelRun(queued ?? '', 'by hand', NOW))
})

test('a decision has the rows of the runs that it wakes before the stream of its event', async () => {
  const { one, session } = await openTwo()
  const lease = await claimLease(one)
  const open = { kind: 'approve', effect: 'read', status: 'waiting', output: null, finishedAt: null } as const
  const question = { ask: 'Go on?', show: null, answer: null, needs: 1, role: null, effects: [] }
  const approve = { ...question, workflow: 'follow-up', account: 'default', openedAt: NOW, expiresAt: NOW + 1 }
  await one.saveCheckpoint(lease, checkpoint('ask', open), undefined, { approve })
  const { id = '' } = (await one.findQuestion(lease.runId, 'ask', NOW)) ?? {}
  const word = await wordOf(one, id)
  const both = 'SELECT 1 FROM stream CROSS JOIN wait'
  await expectOrder(session, rowOf(lease.runId), both, () => one.decideApproval(word, NOW))
})

test('an event that cancels a run in line has the gates of its line before its row', async () => {
  const { one, session } = await openTwo()
  await askAdmission(one, await arrive(one, 'evt_1'), { gates: [concurrency] })
  const { lease } = await arrive(one, 'evt_2')
  await one.watchRun(lease, [WAIT], NOW)
  await askAdmission(one, { lease } as ClaimedRun, { gates: [concurrency] })
  const seq = await addEvent(one, 'evt_end')
  await expectOrder(session, GATE, rowOf(lease.runId), () => match(one, { [seq]: 'fil_1' }))
  expect(await one.findRun(lease.runId)).toMatchObject({ status: 'canceled' })
})

test('a worker that stops has the rows of its runs in the order of ids', async () => {
  const { one, session } = await openTwo()
  const first = await claimLease(one)
  const second = await claimLease(one, 'evt_2')
  // Its newer row lies behind that of the other.
  await one.releaseRun(first)
  const again = (await claimNext(one)).lease
  expect(again).toMatchObject({ runId: first.runId, worker: second.worker })
  await expectOrder(session, rowOf(first.runId), rowOf(second.runId), () => one.stopWorker(second.worker))
})

/** An operation that cancels these runs. */
async function startCancel(store: Awaited<ReturnType<typeof openTwo>>['one'], ...targets: string[]) {
  const operator = { actor: 'ann', role: 'operator', from: '', reason: null } as const
  const whole = { id: 'op_1', owner: 'me', after: null, next: null }
  await store.startBulk({ id: whole.id, kind: 'cancel', filter: {}, operator, perSecond: null, createdAt: NOW })
  await store.claimBulk(whole.owner, NOW)
  await store.countBulk(whole, { total: targets.length, runs: targets.length, first: [] }, NOW)
  return () => store.performBulk({ ...whole, targets }, NOW)
}

test('an operation on many runs has their rows in the order of ids, and not newest first', async () => {
  const { one, session } = await openTwo()
  const [first, second] = [await claimLease(one), await claimLease(one, 'evt_2')]
  const perform = await startCancel(one, second.runId, first.runId)
  await expectOrder(session, rowOf(first.runId), rowOf(second.runId), perform)
})

test('an operation on many runs has those that wait for their ends before their rows', async () => {
  const { one, session } = await openTwo()
  const parent = await claimLease(one)
  await invoke(one, parent, { run: 'run_child' })
  const perform = await startCancel(one, 'run_child')
  await expectOrder(session, rowOf(parent.runId), rowOf('run_child'), perform)
})

test('an operation on many runs has the ticks of their schedules before their rows', async () => {
  const { one, session } = await openTwo()
  const tick = (await one.recordTick('nightly', { scheduledFor: NOW, missed: 0 }, NOW)) ?? ''
  const perform = await startCancel(one, tick)
  await expectOrder(session, TICKS, rowOf(tick), perform)
})

test('an event that cancels a run has the run that waits for it before its row', async () => {
  const { one, session } = await openTwo()
  const parent = await claimLease(one)
  await invoke(one, parent, { run: 'run_child' })
  const child = (await claimNext(one)).lease
  await one.watchRun(child, [WAIT], NOW)
  const seq = await addEvent(one, 'evt_moved')
  await expectOrder(session, rowOf(parent.runId), rowOf(child.runId), () => match(one, { [seq]: 'fil_1' }))
  expect(await one.findRun(child.runId)).toMatchObject({ status: 'canceled' })
})

test.each([
  ['wake', waitingRun],
  ['cancel', watchingRun],
])('the events of a batch have all the runs that they %s in the order of ids', async (_what, make) => {
  const { one, session } = await openTwo()
  const [first, second] = [await make(one), await make(one, { value: 'fil_2' })]
  const [before, after] = [await addEvent(one, 'evt_before'), await addEvent(one, 'evt_after')]
  const matched = () => match(one, { [before]: 'fil_2', [after]: 'fil_1' })
  await expectOrder(session, rowOf(first.runId), rowOf(second.runId), matched)
})

test('a run that is canceled as it begins to watch has the run that waits for it before its row', async () => {
  const { one, session } = await openTwo()
  await waitingRun(one)
  const parent = await claimLease(one)
  await invoke(one, parent, { run: 'run_z1' })
  const child = (await claimNext(one)).lease
  const seq = await addEvent(one, 'evt_moved')
  await match(one, { [seq]: 'fil_1' })
  const watch = () => one.watchRun(child, [{ ...WAIT, since: 'run' }], NOW)
  await expectOrder(session, rowOf(parent.runId), rowOf(child.runId), watch)
  expect(await one.findRun(child.runId)).toMatchObject({ status: 'canceled' })
})

test('a run that replaces another, or ends at once, has the runs that wait for both before any row', async () => {
  const { one, session } = await openTwo()
  const [first, second] = [await claimLease(one), await claimLease(one, 'evt_2')]
  await invoke(one, first, { run: 'run_z1' })
  await invoke(one, second, { run: 'run_z2' })
  const [holder, next] = [await claimNext(one), await claimNext(one)]
  const part = { gates: [singleton], onConflict: 'cancel' } as const
  await askAdmission(one, holder, part)
  const skip = () => askAdmission(one, next, { gates: [singleton] })
  await expectOrder(session, rowOf(second.runId), rowOf(next.lease.runId), skip)
  await invoke(one, second, { run: 'run_z3' }, 'ask again')
  const third = await claimNext(one)
  await expectOrder(session, rowOf(first.runId), rowOf(holder.lease.runId), () => askAdmission(one, third, part))
  expect(await one.findRun(holder.lease.runId)).toMatchObject({ status: 'canceled' })
})

test('a run that is canceled has the rows of its children before the gates of those in line', async () => {
  const { one, session } = await openTwo()
  const parent = await claimLease(one)
  for (const run of ['run_z1', 'run_z2', 'run_z3']) await invoke(one, parent, { run }, run)
  const children = [await claimNext(one), await claimNext(one), await claimNext(one)]
  for (const child of children.slice(0, 2)) await askAdmission(one, child, { gates: [concurrency] })
  expect(await one.findRun('run_z2')).toMatchObject({ status: 'waiting' })
  // A lock that is refused at once: a deadlock would end the call, which is made again.
  const gate = `${lockOf('["child","concurrency-1","a"]').replace('pg_', 'pg_try_')} LIMIT 1`
  await session.query('BEGIN')
  await session.query(`${rowOf('run_z3')} FOR UPDATE`)
  const done = one.cancelRun(parent.runId, 'by hand', NOW)
  await awaitBlocked(session)
  const { rows } = await session.query(gate)
  await session.query('ROLLBACK')
  await done
  expect(rows).toEqual([{ pg_try_advisory_xact_lock: true }])
  expect(await one.findRun('run_z2')).toMatchObject({ status: 'canceled' })
})

test.each([
  ['is canceled', (one: Store, { runId }: Lease) => one.cancelRun(runId, 'by hand', NOW)],
  ['fails', (one: Store, lease: Lease) => one.failRun(lease, { name: 'Error', message: 'no' }, NOW)],
  ['is canceled by an operation', async (one: Store, { runId }: Lease) => (await startCancel(one, runId))()],
])('a run that %s has its row and all below it in the order of ids, and not level by level', async (_what, end) => {
  const { one, session } = await openTwo()
  const parent = await claimLease(one)
  await invoke(one, parent, { run: 'run_01' }, 'first')
  await invoke(one, (await claimNext(one)).lease, { run: 'run_z1' })
  await invoke(one, parent, { run: 'run_z2' }, 'second')
  await expectOrder(session, rowOf('run_z1'), rowOf('run_z2'), () => end(one, parent))
  expect(await one.findRun('run_z2')).toMatchObject({ status: 'canceled' })
})

test.each([
  ['is canceled', (one: Store, { runId }: Lease) => one.cancelRun(runId, 'by hand', NOW)],
  ['fails', (one: Store, lease: Lease) => one.failRun(lease, { name: 'Error', message: 'no' }, NOW)],
])('a run that %s has what it invoked before its row, where that has the smaller id', async (_what, end) => {
  const { one, session } = await openTwo()
  const parent = await claimLease(one)
  await invoke(one, parent, { run: 'run_01' })
  await expectOrder(session, rowOf('run_01'), rowOf(parent.runId), () => end(one, parent))
})

test('a step that gives a child up has all below that in the order of ids before its own row', async () => {
  const { one, session } = await openTwo()
  const parent = await claimLease(one)
  await invoke(one, parent, { run: 'run_02' })
  await invoke(one, (await claimNext(one)).lease, { run: 'run_01' })
  const cancel = { run: 'run_02', reason: 'too late', now: NOW }
  const giveUp = () => one.saveCheckpoint(parent, checkpoint('ask', { kind: 'invoke' }), undefined, { cancel })
  await expectOrder(session, rowOf('run_01'), rowOf('run_02'), giveUp)
  expect(await one.findRun('run_01')).toMatchObject({ status: 'canceled' })
})

test('a run that replaces another has all below that in the order of ids before its row', async () => {
  const { one, session } = await openTwo()
  const [first, next] = [await arrive(one, 'evt_1'), await arrive(one, 'evt_2')]
  const part = { gates: [singleton], onConflict: 'cancel' } as const
  await askAdmission(one, first, part)
  await invoke(one, first.lease, { run: 'run_02' })
  await invoke(one, (await claimNext(one)).lease, { run: 'run_01' })
  await expectOrder(session, rowOf('run_01'), rowOf('run_02'), () => askAdmission(one, next, part))
  expect(await one.findRun('run_01')).toMatchObject({ status: 'canceled' })
})

test('a run that is canceled has the gates of all below it in one order, those of slots as well', async () => {
  const { one, session } = await openTwo()
  const [parent, other] = [await claimLease(one), await claimLease(one, 'evt_2')]
  await invoke(one, other, { run: 'run_z1' })
  await invoke(one, parent, { run: 'run_z2' }, 'first')
  await invoke(one, parent, { run: 'run_z3' }, 'second')
  const keys = ['b', 'a', 'b']
  for (const key of keys) await askAdmission(one, await claimNext(one), { gates: [{ ...concurrency, key }] })
  expect(await one.findRun('run_z3')).toMatchObject({ status: 'waiting' })
  const tryGate = (key: string) => lockOf(`["child","concurrency-1","${key}"]`).replace('pg_', 'pg_try_')
  await session.query('BEGIN')
  await session.query(`${tryGate('a')} LIMIT 1`)
  const done = one.cancelRun(parent.runId, 'by hand', NOW)
  await awaitBlocked(session)
  const { rows } = await session.query(`${tryGate('b')} LIMIT 1`)
  await session.query('ROLLBACK')
  await done
  expect(rows).toEqual([{ pg_try_advisory_xact_lock: true }])
  expect(await one.findRun('run_z3')).toMatchObject({ status: 'canceled' })
})

test('a run that starts too late has the run that waits for it before its row', async () => {
  const { one, session } = await openTwo()
  const parent = await claimLease(one)
  await invoke(one, parent, { run: 'run_z1' })
  const late = await claimNext(one)
  const ask = () => askAdmission(one, late, { gates: [concurrency], startBy: NOW })
  await expectOrder(session, rowOf(parent.runId), rowOf(late.lease.runId), ask)
  expect(await one.findRun('run_z1')).toMatchObject({ status: 'canceled' })
})

test('an event of an account that is new has the account before the stream', async () => {
  const { one, session } = await openTwo()
  const lease = await claimLease(one)
  const send = { id: 'evt_sent', type: 'x.y', account: 'new', createdAt: NOW, body: '{}', workflows: [] }
  await session.query('BEGIN')
  await session.query(`INSERT INTO event_account (name) VALUES ('new')`)
  // With a failed attempt, so that it is no plain step.
  const failure = { key: 'send', attempt: 1, at: NOW, error: { name: 'Error', message: 'no' } }
  const sent = one.saveCheckpoint(lease, checkpoint('send', { kind: 'send' }), failure, { send })
  await awaitBlocked(session)
  await session.query('SELECT 1 FROM stream FOR UPDATE NOWAIT').finally(() => session.query('ROLLBACK'))
  await sent
})
