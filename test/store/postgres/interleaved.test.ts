import { randomInt } from 'node:crypto'
import type pg from 'pg'
import { expect, test } from 'vitest'
import { newId } from '../../../src/core/ids.ts'
import { planOnce } from '../../../src/core/service/plan-schedule.ts'
import { beginSweep, newState } from '../../../src/core/service/sweep/sweep-state.ts'
import type { Store } from '../../../src/core/store/store.ts'
import {
  arrive,
  askAdmission,
  concurrency,
  debounce,
  singleton,
  throttle,
} from '../../contract/support/ask-admission.ts'
import { claimNext } from '../../contract/support/claim-next.ts'
import { claimLease, QUESTION } from '../../contract/support/waiting-runs.ts'
import { wordOf } from '../../contract/support/word-of.ts'
import { checkpoint, NOW, queueRun } from '../../support/fixtures.ts'
import { makeSchema } from '../../support/postgres-store.ts'
import { awaitBlocked, openTwo } from './support/open-two.ts'

const ERROR = { name: 'Error', message: 'no' }
const SLICE = { kind: 'failures', before: NOW + 1, limit: 9, after: null } as const

async function failedRun(store: Store): Promise<string> {
  const runId = await queueRun(store)
  await store.failRun((await claimNext(store)).lease, ERROR, NOW)
  return runId
}

/** The statements of a retry in another process, up to its commit. */
async function beginRetry(session: pg.Client, runId: string): Promise<void> {
  await session.query('BEGIN')
  await session.query(
    `INSERT INTO work (run_id, workflow, status) SELECT run_id, workflow, 'pending' FROM outcome WHERE run_id = $1`,
    [runId],
  )
  await session.query('DELETE FROM outcome WHERE run_id = $1', [runId])
}

/** Has writes of these rows wait for the session; the result lets them go on. */
async function holdUp(session: pg.Client, write: string, each = 'ROW'): Promise<() => Promise<unknown>> {
  const lock = randomInt(2 ** 47)
  await session.query('SELECT pg_advisory_lock($1)', [lock])
  await session.query(`CREATE FUNCTION wait_1() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_advisory_xact_lock_shared(${lock}); RETURN coalesce(NEW, OLD); END $$`)
  await session.query(`CREATE TRIGGER wait ${write} FOR EACH ${each} EXECUTE FUNCTION wait_1()`)
  return () => session.query('SELECT pg_advisory_unlock($1)', [lock])
}

/** Resolves once a call has ended, or so many sessions wait for locks. */
async function awaitEndOr(session: pg.Client, waiting: number, call: Promise<unknown>): Promise<void> {
  let hasEnded = false
  call.then(
    () => (hasEnded = true),
    () => (hasEnded = true),
  )
  for (let count = 0; count < waiting && !hasEnded; ) {
    const { rows } = await session.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM pg_stat_activity
       WHERE application_name = 'upshot' AND cardinality(pg_blocking_pids(pid)) > 0`,
    )
    count = rows[0]?.count ?? 0
  }
}

test('of two persons who retry a run at once, the second is told that it goes on already', async () => {
  const { one, session } = await openTwo()
  const runId = await failedRun(one)
  await beginRetry(session, runId)
  const retried = one.retryRun(runId, NOW)
  await awaitBlocked(session)
  await session.query('COMMIT')
  expect(await retried).toBe(false)
})

test('a run that a person retries between the list of a prune and its delete stays', async () => {
  const { one, session } = await openTwo()
  const runId = await failedRun(one)
  await beginRetry(session, runId)
  const pruned = one.prune(SLICE)
  await awaitBlocked(session)
  await session.query('COMMIT')
  expect(await pruned).toEqual({ pruned: 0, next: null })
  expect(await one.claimRuns('wrk_1', 9, NOW)).toMatchObject([{ lease: { runId } }])
})

test('a run that goes by a prune while a person retries it is gone', async () => {
  const { one, session } = await openTwo()
  const runId = await failedRun(one)
  await session.query('BEGIN')
  for (const [table, key] of [
    ['outcome', 'run_id'],
    ['run', 'id'],
  ])
    await session.query(`DELETE FROM ${table} WHERE ${key} = $1`, [runId])
  const retried = one.retryRun(runId, NOW)
  await awaitBlocked(session)
  await session.query('COMMIT')
  expect(await retried).toBe(false)
  expect((await session.query('SELECT * FROM work')).rows).toEqual([])
})

test('a fork of a run that goes by a prune has its place in the queue', async () => {
  const { one, two, session } = await openTwo(makeSchema())
  const source = await failedRun(one)
  const letGo = await holdUp(session, 'BEFORE INSERT ON run', `ROW WHEN (NEW.origin = 'fork')`)
  const forked = one.forkRun(source, { keys: [], edited: null }, NOW)
  await awaitBlocked(session)
  const pruned = two.prune(SLICE)
  await awaitEndOr(session, 2, pruned)
  await letGo()
  const fork = await forked
  await pruned
  expect(await one.claimRuns('wrk_1', 9, NOW)).toMatchObject([{ lease: { runId: fork } }])
})

test('a run in line has a moment where the one before it starts while it gets there', async () => {
  const { one, two, session } = await openTwo(makeSchema())
  const gates = [throttle]
  const [first, second] = [await arrive(one, 'evt_1'), await arrive(one, 'evt_2')]
  expect(await askAdmission(one, first, { gates, mayStart: false })).toEqual({ kind: 'ready' })
  const letGo = await holdUp(session, 'BEFORE UPDATE ON work', `ROW WHEN (NEW.gate_state = 'in_line')`)
  const queued = askAdmission(one, second, { gates })
  await awaitBlocked(session)
  expect(await two.claimRuns('wrk_2', 1, NOW)).toMatchObject([{ lease: { runId: first.lease.runId } }])
  await letGo()
  await queued
  expect(await one.findRun(second.lease.runId)).toMatchObject({ status: 'waiting', dueAt: NOW + 100 })
})

test('a run goes on to the gate where another process has put it before it saw the claim', async () => {
  const { one, session } = await openTwo()
  const gates = [throttle, concurrency]
  const run = await arrive(one, 'evt_1')
  await session.query('BEGIN')
  await session.query(
    `INSERT INTO gate_slot (workflow, gate, key, is_held, rank, run_id, survives_sleep)
     VALUES ('follow-up', $1, $2, 0, 0, $3, 0)`,
    [concurrency.name, concurrency.key, run.lease.runId],
  )
  const asked = askAdmission(one, run, { gates })
  await awaitBlocked(session)
  await session.query('COMMIT')
  expect(await asked).toMatchObject({ kind: 'admitted' })
})

test('a run that gathers does not wait for one that joins it and waits for its row', async () => {
  const { one, session } = await openTwo()
  const gathering = await arrive(one, 'evt_1')
  await session.query('BEGIN')
  await session.query(
    `SELECT pg_advisory_xact_lock(hashtextextended('["fold","follow-up","a"] ' || current_schema(), 0))`,
  )
  const asked = askAdmission(one, gathering, { fold: debounce })
  await awaitBlocked(session)
  await session.query('SELECT 1 FROM work WHERE run_id = $1 FOR UPDATE NOWAIT', [gathering.lease.runId])
  await session.query('COMMIT')
  expect(await asked).toMatchObject({ kind: 'queued' })
})

test('a run that replaces another waits for the end of that one before it takes the gate', async () => {
  const { one, session } = await openTwo()
  const part = { gates: [singleton], onConflict: 'cancel' } as const
  const [holder, next] = [await arrive(one, 'evt_1'), await arrive(one, 'evt_2')]
  await askAdmission(one, holder, part)
  await session.query('BEGIN')
  await session.query('SELECT 1 FROM work WHERE run_id = $1 FOR UPDATE', [holder.lease.runId])
  const asked = askAdmission(one, next, part)
  await awaitBlocked(session)
  const gate = `hashtextextended('["follow-up","singleton",""] ' || current_schema(), 0)`
  const { rows } = await session.query(`SELECT pg_try_advisory_xact_lock(${gate}) AS is_free`)
  expect(rows).toEqual([{ is_free: true }])
  await session.query('COMMIT')
  expect(await asked).toMatchObject({ kind: 'admitted' })
  expect(await one.findRun(holder.lease.runId)).toMatchObject({ status: 'canceled' })
})

test('a yes that comes while its step gives up is refused as too late', async () => {
  const { one, session } = await openTwo()
  const approve = { ...QUESTION, openedAt: NOW, expiresAt: NOW + 1 }
  const lease = await claimLease(one)
  const open = { kind: 'approve', effect: 'read', status: 'waiting', output: null, finishedAt: null } as const
  await one.saveCheckpoint(lease, checkpoint('ask', open), undefined, { approve })
  const { id = '' } = (await one.findQuestion(lease.runId, 'ask', NOW)) ?? {}
  const word = await wordOf(one, id)
  await session.query('BEGIN')
  await session.query(`UPDATE approval SET status = 'expired' WHERE id = $1`, [id])
  const refusal = { code: 'conflict', message: `Approval ${id} is expired already.` }
  const decided = expect(one.decideApproval(word, NOW)).rejects.toMatchObject(refusal)
  await awaitBlocked(session)
  await session.query('COMMIT')
  await decided
})

test('two processes that count the same hour do so in turn', async () => {
  const { one, two, session } = await openTwo(makeSchema())
  const hour = { hour: 1, version: 0, counted: null }
  const runs = [{ hour: 1, workflow: 'a', status: 'completed', runs: 1, p50Ms: 1, p95Ms: 1 } as const]
  const letGo = await holdUp(session, 'BEFORE INSERT ON run_hour')
  const saved = Promise.all([one, two].map((store) => store.saveHour(hour, { runs, deliveries: [] })))
  await awaitEndOr(session, 2, saved)
  await letGo()
  await saved
  expect(await one.listRunHours({ since: 0 })).toEqual(runs)
})

test('two processes that prune at once leave no step of a run', async () => {
  const { one, two, session } = await openTwo(makeSchema())
  await queueRun(one)
  const { lease } = await claimNext(one)
  for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) await one.saveCheckpoint(lease, checkpoint(key))
  await one.failRun(lease, ERROR, NOW)
  const slice = { ...SLICE, limit: 2 }
  await one.prune(slice)
  const letGo = await holdUp(session, 'BEFORE DELETE ON step')
  const first = one.prune(slice)
  await awaitBlocked(session)
  const second = two.prune(slice)
  await awaitEndOr(session, 2, second)
  await letGo()
  await Promise.all([first, second])
  for (let left = 1; left > 0; left = Number((await session.query('SELECT FROM pruned_run')).rowCount))
    await one.prune(slice)
  expect((await session.query('SELECT key FROM step')).rows).toEqual([])
})

test('a refusal that another process prunes is counted as dropped by that alone', async () => {
  const { one, session } = await openTwo()
  const refusal = { id: newId('dlv', NOW), endpointId: null, receivedAt: NOW, bodyBytes: 1, facts: {} }
  await one.saveRefusal({ ...refusal, verdict: 'bad_signature' })
  await session.query('BEGIN')
  await session.query('DELETE FROM delivery')
  const pruned = one.prune({ ...SLICE, kind: 'refusals' })
  await awaitBlocked(session)
  await session.query('COMMIT')
  expect(await pruned).toEqual({ pruned: 0, next: null })
  expect(await one.tallyRefusals()).toEqual([{ verdict: 'bad_signature', listed: 1, dropped: 0 }])
})

test('a schedule that is edited while it is pruned as done stays', async () => {
  const { one, session } = await openTwo()
  const made = { id: 'sch_1', name: 'once', owner: 'person', madeBy: 'ann', workflow: 'w', input: 'null' } as const
  await one.addSchedule({ ...made, plan: planOnce(NOW) }, NOW)
  await session.query('UPDATE schedule SET done_at = 1, next_at = NULL')
  await session.query('BEGIN')
  await session.query('UPDATE schedule SET done_at = NULL, next_at = 1')
  const pruned = one.pruneSchedules(NOW, 9)
  await awaitEndOr(session, 1, pruned)
  await session.query('COMMIT')
  expect(await pruned).toBe(0)
})

test('a schedule that a person removes while code changes it is made anew', async () => {
  const { one, session } = await openTwo(makeSchema())
  const lease = await claimLease(one)
  const plan = planOnce(NOW, { account: 'default' })
  const about = { id: 'sch_1', name: 'later', owner: 'code', madeBy: lease.runId, workflow: 'w' } as const
  const schedule = { ...about, plan, input: '1', madeAt: NOW }
  const step = checkpoint('plan it', { kind: 'schedule' })
  await one.saveCheckpoint(lease, step, undefined, { schedule })
  await session.query('BEGIN')
  await session.query('SELECT 1 FROM schedule FOR UPDATE')
  const again = checkpoint('plan it again', { kind: 'schedule', position: 1 })
  const saved = one.saveCheckpoint(lease, again, undefined, { schedule: { ...schedule, id: 'sch_2', input: '2' } })
  await awaitBlocked(session)
  await session.query('DELETE FROM schedule')
  await session.query('COMMIT')
  await saved
  const { rows } = await session.query('SELECT id, input FROM schedule')
  expect(rows).toEqual([{ id: 'sch_2', input: '2' }])
})

test('a page that two processes save at once is counted by one of them', async () => {
  const { one, two, session } = await openTwo(makeSchema())
  const plan = { account: 'default', storage: 'storage_a', path: '/', recursive: true } as const
  const kept = { ...plan, state: beginSweep(newState(plan as never, null), NOW), version: 0, forgottenTo: null }
  await one.saveSweep(kept)
  const [file, other] = ['fil_1', 'fil_2'].map((id) => ({
    file: id,
    path: `/${id}`,
    size: 1,
    isFolder: false,
    createdAt: NOW,
    modifiedAt: NOW,
  }))
  const facts = { nextPage: 2, totalItems: 2, nextToken: null, entries: 1, passedOver: 0 }
  const letGo = await holdUp(session, 'BEFORE INSERT ON known_file')
  const save = (store: Store, saved = file) => store.savePage({ ...kept, version: 1 }, facts, saved ? [saved] : [], NOW)
  const saved = Promise.all([save(one), save(two, other)])
  await awaitEndOr(session, 2, saved)
  await letGo()
  expect((await saved).filter((each) => each !== null)).toHaveLength(1)
  const { rows } = await session.query('SELECT file FROM known_file')
  expect(rows).toHaveLength(1)
})

test('a request whose key is given free as it comes is the first one, and is known from then on', async () => {
  const { one, session } = await openTwo(makeSchema())
  const asked = { caller: 'ann', key: 'k', request: 'r' }
  await one.beginAnswer(asked, NOW)
  const letGo = await holdUp(session, 'AFTER INSERT ON kept_answer', 'STATEMENT')
  const begun = one.beginAnswer(asked, NOW)
  await awaitBlocked(session)
  await session.query('DELETE FROM kept_answer')
  await letGo()
  expect(await begun).toBeNull()
  expect(await one.beginAnswer(asked, NOW)).toEqual({ request: 'r', answer: null })
})

test('lines of a run that two processes log at once are all kept', async () => {
  const { one, session } = await openTwo()
  const runId = await queueRun(one)
  await session.query('BEGIN')
  await session.query(`INSERT INTO run_log (run_id, number, at, level, message) VALUES ($1, 1, 1, 'info', 'a')`, [
    runId,
  ])
  const saved = one.saveRunLog([{ runId, at: NOW, level: 'info', message: 'b', facts: null }])
  await awaitBlocked(session)
  await session.query('COMMIT')
  await saved
  expect((await one.listRunLog(runId)).map(({ message }) => message)).toEqual(['a', 'b'])
})
