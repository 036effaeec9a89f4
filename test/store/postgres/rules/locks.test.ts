import type pg from 'pg'
import { expect, test } from 'vitest'
import type { Lease } from '../../../../src/core/runs/lease.ts'
import type { Store } from '../../../../src/core/store/store.ts'
import { claimNext } from '../../../contract/support/claim-next.ts'
import { checkpoint, incoming, NOW } from '../../../support/fixtures.ts'
import { awaitBlocked, openTwo } from '../support/open-two.ts'

const ASK = checkpoint('ask', { kind: 'invoke', status: 'waiting', output: null, finishedAt: null })

async function lockRun(session: pg.Client, runId: string, how = 'FOR UPDATE'): Promise<void> {
  await session.query(`SELECT 1 FROM work WHERE run_id = $1 ${how}`, [runId])
}

test('a run that parks looks for what it awaits after it has its lock, and not before', async () => {
  const { one, session } = await openTwo()
  await one.saveDelivery(incoming('evt_1'))
  const { lease } = await claimNext(one)
  const invoke = { run: 'run_child', workflow: 'child', account: 'default', input: 'null', createdAt: NOW }
  await one.saveCheckpoint(lease, ASK, undefined, { invoke })
  // Another process ends the child: it has the lock of the parent, and has not committed.
  await session.query('BEGIN')
  await lockRun(session, lease.runId)
  await session.query(`UPDATE wait SET is_resolved = 1 WHERE child_run = 'run_child'`)
  const parked = one.parkRun(lease, { dueAt: null, reason: 'waits', awaits: ['ask'] })
  await awaitBlocked(session)
  await session.query('COMMIT')
  await parked
  expect(await one.findRun(lease.runId)).toMatchObject({ status: 'pending' })
})

test('a child that ends looks for its parent after it has the lock of that', async () => {
  const { one, session } = await openTwo()
  await one.saveDelivery(incoming('evt_1'))
  const parent = (await claimNext(one)).lease
  const invoke = { run: 'run_child', workflow: 'child', account: 'default', input: 'null', createdAt: NOW }
  await one.saveCheckpoint(parent, ASK, undefined, { invoke })
  const child = (await claimNext(one)).lease
  // Another process parks the parent, and has not committed.
  await session.query('BEGIN')
  await session.query(`UPDATE work SET status = 'waiting', worker = NULL, awaits = 1 WHERE run_id = $1`, [parent.runId])
  const ended = one.completeRun(child, 'null', NOW)
  await awaitBlocked(session)
  await session.query('COMMIT')
  await ended
  expect(await one.findRun(parent.runId)).toMatchObject({ status: 'pending' })
})

test.each([
  ['steps', (store: Store, lease: Lease) => store.saveCheckpoint(lease, checkpoint('a'))],
  ['ends', (store: Store, lease: Lease) => store.completeRun(lease, 'null', NOW)],
])('a call with %s of many runs locks them in the order of their ids', async (_what, write) => {
  const { one, session } = await openTwo()
  for (const id of ['evt_1', 'evt_2']) await one.saveDelivery(incoming(id))
  const leases = (await one.claimRuns('wrk_1', 9, NOW)).map(({ lease }) => lease)
  const [first, second] = leases.sort((a, b) => (a.runId < b.runId ? -1 : 1))
  if (!first || !second) throw new Error('two runs were queued')
  await session.query('BEGIN')
  await lockRun(session, first.runId)
  const written = Promise.all([second, first].map((lease) => write(one, lease)))
  await awaitBlocked(session)
  // Nobody holds the later row while it waits for the earlier one: else this were a deadlock.
  await lockRun(session, second.runId, 'FOR UPDATE NOWAIT')
  await session.query('COMMIT')
  await written
})

test('a transaction about several runs locks them in the order of their ids', async () => {
  const { one, session } = await openTwo()
  await one.saveDelivery(incoming('evt_1'))
  const parent = (await claimNext(one)).lease
  const invoke = { run: 'run_child', workflow: 'child', account: 'default', input: 'null', createdAt: NOW }
  await one.saveCheckpoint(parent, ASK, undefined, { invoke })
  const child = (await claimNext(one)).lease
  expect(child.runId > parent.runId).toBe(true)
  await session.query('BEGIN')
  await lockRun(session, parent.runId)
  const ended = one.failRun(child, { name: 'Error', message: 'no luck' }, NOW)
  await awaitBlocked(session)
  await lockRun(session, child.runId, 'FOR UPDATE NOWAIT')
  await session.query('COMMIT')
  await ended
})

test('a takeover waits for a step that is not committed', async () => {
  const { one, two, session } = await openTwo()
  await one.saveDelivery(incoming('evt_1'))
  const { lease } = await claimNext(one)
  // The step has read the fence, and waits for a row of its own.
  await session.query('BEGIN')
  await session.query(
    `INSERT INTO step (run_id, key, position, kind, effect, status, attempt, started_at)
     VALUES ($1, 'a', 0, 'run', 'read', 'completed', 1, 1)`,
    [lease.runId],
  )
  const saved = one.saveCheckpoint(lease, checkpoint('a'))
  await awaitBlocked(session)
  const taken = session.query('SELECT 1 FROM work WHERE run_id = $1 FOR UPDATE SKIP LOCKED', [lease.runId])
  expect((await taken).rowCount).toBe(0)
  const released = two.releaseRun(lease)
  await session.query('COMMIT')
  await Promise.all([saved, released])
  expect(await one.listSteps(lease.runId)).toHaveLength(1)
})
