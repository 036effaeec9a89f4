import { expect, test } from 'vitest'
import type { Lease } from '../../../src/core/runs/lease.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { askAdmission, concurrency } from '../../contract/support/ask-admission.ts'
import { claimNext } from '../../contract/support/claim-next.ts'
import { checkpoint, incoming, NOW, queueRun } from '../../support/fixtures.ts'
import { makeDatabase, makeSchema } from '../../support/postgres-store.ts'
import { awaitBlocked, openTwo } from './support/open-two.ts'

const ASK = checkpoint('ask', { kind: 'invoke', status: 'waiting', output: null, finishedAt: null })

async function invokeChild(store: Store, parent: Lease, run: string): Promise<Lease> {
  const invoke = { run, workflow: 'child', account: 'default', input: 'null', createdAt: NOW }
  await store.saveCheckpoint(parent, ASK, undefined, { invoke })
  return (await claimNext(store)).lease
}

test('a parent that parks while its child ends is always woken', async () => {
  const { one, two } = await openTwo()
  for (let pair = 0; pair < 60; pair++) {
    await queueRun(one, `evt_${pair}`)
    const parent = (await claimNext(one)).lease
    const child = await invokeChild(one, parent, `run_child_${pair}`)
    await Promise.all([
      two.completeRun(child, 'null', NOW),
      one.parkRun(parent, { dueAt: null, reason: 'waits', awaits: ['ask'] }),
    ])
    expect((await one.claimRuns('wrk_1', 1, NOW)).map(({ lease }) => lease.runId)).toEqual([parent.runId])
  }
})

test('a step of a worker is refused when its run is taken over before the commit', async () => {
  const { one, session } = await openTwo()
  await queueRun(one)
  const { lease } = await claimNext(one)
  await session.query('BEGIN')
  await session.query('UPDATE work SET fence = fence + 1 WHERE run_id = $1', [lease.runId])
  const refused = expect(one.saveCheckpoint(lease, checkpoint('late'))).rejects.toMatchObject({ code: 'stale_lease' })
  await awaitBlocked(session)
  await session.query('COMMIT')
  await refused
  expect(await one.listSteps(lease.runId)).toEqual([])
})

test('a worker that was taken over writes nothing beside the one that has its run', async () => {
  const { one } = await openTwo()
  await queueRun(one)
  const { lease: stale } = await claimNext(one)
  await one.releaseRun(stale)
  const { lease } = await claimNext(one)
  const both = await Promise.allSettled([
    one.saveCheckpoint(stale, checkpoint('a', { output: '"late"' })),
    one.saveCheckpoint(lease, checkpoint('b')),
    one.completeRun(stale, '"late"', NOW),
    one.completeRun(lease, '"own"', NOW),
  ])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected', 'fulfilled'])
  expect((await one.listSteps(lease.runId)).map(({ key }) => key)).toEqual(['b'])
  expect(await one.findRun(lease.runId)).toMatchObject({ status: 'completed', output: '"own"' })
})

test('the calls about a run keep their order, whether they share a message or not', async () => {
  const { one } = await openTwo()
  await queueRun(one)
  const { lease } = await claimNext(one)
  const failed = { key: 'a', attempt: 1, at: NOW, error: { name: 'Error', message: 'no' } }
  await Promise.all([
    one.saveCheckpoint(lease, checkpoint('a', { status: 'waiting', output: null, dueAt: NOW }), failed),
    one.saveCheckpoint(lease, checkpoint('a', { attempt: 2, output: '1' })),
    one.saveCheckpoint(lease, checkpoint('a', { attempt: 2, output: '2' })),
    one.saveCheckpoint(lease, checkpoint('b', { status: 'waiting', output: null, dueAt: NOW }), failed),
    one.completeRun(lease, 'null', NOW),
  ])
  const steps = await one.listSteps(lease.runId)
  expect(steps.map(({ key, output }) => [key, output])).toEqual([
    ['a', '2'],
    ['b', null],
  ])
})

test('an event is numbered after those whose commit came before, and waits for them', async () => {
  const { one, session } = await openTwo()
  await one.saveDelivery(incoming('evt_1'))
  const [{ stream, seq } = { stream: 0, seq: 0 }] = await one.listEvents({ limit: 1 })
  await session.query('BEGIN')
  await session.query('UPDATE stream SET seq = seq + 8 WHERE id = $1', [stream])
  const saved = one.saveDelivery(incoming('evt_2'))
  await awaitBlocked(session)
  expect((await one.listMatchCursors()).newest.get(stream)).toBe(seq)
  await session.query('COMMIT')
  await saved
  const after = await one.listEventsAfter({ stream, after: seq, upTo: Number.MAX_SAFE_INTEGER, types: null })
  expect(after.map((event) => event.seq)).toEqual([seq + 16])
})

test('a gate never admits more than its limit, and leaves nobody in line, with two processes', async () => {
  const { one, two, session } = await openTwo()
  const runs = 24
  for (let n = 0; n < runs; n++) await queueRun(one, `evt_${n}`)
  let done = 0
  const work = async (store: Store, worker: string) => {
    while (done < runs) {
      const [run] = await store.claimRuns(worker, 1, NOW)
      if (!run) continue
      const isIn = run.isAdmitted || (await askAdmission(store, run, { gates: [concurrency] })).kind === 'admitted'
      if (!isIn) continue
      const held = await session.query('SELECT count(*)::int AS held FROM gate_slot WHERE is_held = 1')
      expect(held.rows[0].held).toBeLessThanOrEqual(concurrency.most)
      await store.completeRun(run.lease, 'null', NOW)
      done += 1
    }
  }
  await Promise.all([work(one, 'wrk_1'), work(two, 'wrk_2')])
  expect(await one.countOpenRuns(NOW)).toMatchObject({ pending: 0, running: 0, waiting: 0 })
})

test('no write of a lease from before a failover is taken', async () => {
  const { one, session } = await openTwo(makeSchema())
  const claim = async (event: string) => {
    await queueRun(one, event)
    return claimNext(one)
  }
  const [run, limited] = [await claim('evt_1'), await claim('evt_2')]
  const { lease } = run
  // Stands for the promotion of a standby, after which the server writes another history.
  await session.query(`CREATE OR REPLACE FUNCTION era_1() RETURNS text LANGUAGE sql AS $$ SELECT 'another' $$`)
  const refused = { code: 'stale_lease' }
  await expect(one.saveCheckpoint(lease, checkpoint('late'))).rejects.toMatchObject(refused)
  await expect(one.saveCheckpoint(lease, ASK, undefined, { isSettled: true })).rejects.toMatchObject(refused)
  await expect(one.completeRun(lease, 'null', NOW)).rejects.toMatchObject(refused)
  await expect(one.parkRun(lease, { dueAt: null, reason: 'waits' })).rejects.toMatchObject(refused)
  await expect(one.beginEffects(lease, [], { now: NOW, expiresAt: NOW, needs: 1 })).rejects.toMatchObject(refused)
  await expect(askAdmission(one, limited, { gates: [concurrency] })).rejects.toMatchObject(refused)
  // The worker finds what it holds under the new history, and gives it back.
  const held = await one.listLeases(lease.worker)
  expect(held.map(({ era }) => era)).toEqual(['another', 'another'])
  for (const each of held) await one.releaseRun({ ...each, worker: lease.worker })
  expect(await one.claimRuns('wrk_2', 9, NOW)).toMatchObject([{ lease: { era: 'another' } }, { lease: { fence: 2 } }])
})

test('a run that was claimed by a worker that others took for dead does not stay with it', async () => {
  const { one, two } = await openTwo()
  await queueRun(one)
  await one.startWorker('wrk_1', NOW)
  await one.stopWorker('wrk_1')
  const { lease } = await claimNext(one)
  expect(await two.recoverRuns(NOW, 0)).toMatchObject({ count: 1, suspects: [], parked: [] })
  await expect(one.completeRun(lease, 'null', NOW)).rejects.toMatchObject({ code: 'stale_lease' })
  expect(await two.claimRuns('wrk_2', 9, NOW)).toHaveLength(1)
})

/** Sessions that are cut from outside during one call. */
const CUTS = 4
const EVENTS = 10

/** Each third write to these tables cuts its own session. */
const CUT_SHORT = `
  CREATE SEQUENCE cut;
  CREATE FUNCTION cut_short() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF nextval('cut') % 3 = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()), pg_sleep(60); END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER cut_short AFTER INSERT ON event FOR EACH STATEMENT EXECUTE FUNCTION cut_short();
  CREATE TRIGGER cut_short AFTER INSERT ON step FOR EACH STATEMENT EXECUTE FUNCTION cut_short();
  CREATE TRIGGER cut_short AFTER INSERT ON outcome FOR EACH STATEMENT EXECUTE FUNCTION cut_short();`

test('deliveries, steps and ends are made once while the server cuts every session again and again', async () => {
  const { one, session } = await openTwo(await makeDatabase())
  await session.query(CUT_SHORT)
  let isOver = false
  // Cuts of one call are bounded: a server that cuts for ever lets no call through.
  let left = CUTS
  const cut = async () => {
    while (!isOver) {
      const { rowCount } = await session.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'upshot' AND state = 'active' AND $1 > 0`,
        [left],
      )
      left -= Math.min(left, rowCount ?? 0)
    }
  }
  const cutting = cut()
  const events = Array.from({ length: EVENTS }, (_, n) => `evt_${n}`)
  const receipts = await Promise.all(events.map((event) => one.saveDelivery(incoming(event))))
  left = CUTS
  const claimed = await one.claimRuns('wrk_1', events.length, NOW)
  for (const { lease } of claimed) {
    left = CUTS
    await one.saveCheckpoint(lease, checkpoint('a'))
    left = CUTS
    await one.completeRun(lease, 'null', NOW)
  }
  isOver = true
  await cutting
  const { rows } = await session.query<{ last_value: number }>('SELECT last_value::int FROM cut')
  expect(rows[0]?.last_value).toBeGreaterThan(3 * EVENTS)
  expect(receipts.map(({ verdict, runs }) => [verdict, runs.length])).toEqual(events.map(() => ['accepted', 1]))
  const counts = await session.query(
    `SELECT (SELECT count(*) FROM event)::int AS events, (SELECT count(*) FROM run)::int AS runs,
       (SELECT count(*) FROM outcome WHERE status = 'completed')::int AS ended,
       (SELECT count(*) FROM step)::int AS steps`,
  )
  expect(counts.rows).toEqual([{ events: EVENTS, runs: EVENTS, ended: EVENTS, steps: EVENTS }])
})

test('a worker that saves its workflows sees those of one that came while it waited for its turn', async () => {
  const { one, two, session } = await openTwo()
  const load = (worker: string, eventType: string) => ({
    workflows: [{ id: 'a', file: 'a.workflow.ts', eventTypes: [eventType], schedule: null }],
    broken: [],
    worker,
  })
  for (const [worker, type] of [
    ['wrk_old', 'file.created'],
    ['wrk_new', 'file.deleted'],
  ] as const) {
    await one.startWorker(worker, NOW)
    await one.saveWorkflows(load(worker, type), NOW)
    await one.stopWorker(worker)
  }
  await two.startWorker('wrk_old', NOW)
  await session.query('BEGIN; SELECT version FROM workflow_version FOR UPDATE')
  const saved = two.saveWorkflows(load('wrk_old', 'file.created'), NOW)
  await awaitBlocked(session)
  // The same process comes again, and its save is the one that holds the lock.
  await one.startWorker('wrk_new', NOW)
  await session.query(`INSERT INTO worker_workflow (worker, workflow, definition) VALUES ('wrk_new', 'a', 2)`)
  await session.query('COMMIT')
  await saved
  expect((await one.listWorkflows())[0]?.eventTypes).toEqual(['file.created', 'file.deleted'])
})
