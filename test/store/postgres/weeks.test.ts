import { expect, test } from 'vitest'
import { newId } from '../../../src/core/ids.ts'
import { KEEP_ALL, type PruneBounds, type PruneKind } from '../../../src/core/store/retention.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { verifyPostgres } from '../../../src/store/postgres/upkeep/verify-postgres.ts'
import { beginDelete } from '../../contract/support/begin-delete.ts'
import { claimNext } from '../../contract/support/claim-next.ts'
import { checkpoint, incoming, NOW, queueRun } from '../../support/fixtures.ts'
import { lastAt, saveLine } from '../../support/lines.ts'
import { makeSchema, openSession, openTestPostgres } from '../../support/postgres-store.ts'

const DAY = 86_400_000
const WEEK = 7 * DAY
/** Mondays, 00:00 UTC; NOW is in the week of the first. */
const [FIRST, SECOND, THIRD] = [Date.UTC(2026, 5, 1), Date.UTC(2026, 5, 8), Date.UTC(2026, 5, 15)]
const upTo = (at: number): PruneBounds => ({
  ...KEEP_ALL,
  runs: at,
  failures: at,
  refusals: at,
  deliveries: at,
  payloads: at,
})

async function openWeeks() {
  const place = makeSchema()
  const store = await openTestPostgres(place)
  const session = await openSession(place)
  const weeksOf = async (table: string) => {
    const { rows } = await session.query('SELECT name, lower, upper FROM list_weeks_1($1) ORDER BY name', [table])
    return rows.map(({ name }) => name as string)
  }
  const ids = async (sql: string) => (await session.query({ text: sql, rowMode: 'array' })).rows.flat()
  expect(await store.pruneWeek(KEEP_ALL, NOW)).toBeNull()
  return { place, store, session, weeksOf, ids }
}

/** An event with its run, whose id is of that moment. */
async function queueAt(store: Store, event: string, at: number, workflow = 'follow-up'): Promise<string> {
  const delivery = incoming(event, { id: newId('dlv', at), receivedAt: at, workflows: [workflow] })
  return (await store.saveDelivery(delivery)).runs[0] ?? ''
}

async function finish(store: Store, event: string, at: number, end: 'complete' | 'fail' = 'complete') {
  const id = await queueAt(store, event, at)
  const { lease } = await claimNext(store)
  await store.saveTags(lease, { customer: 'acme' })
  await store.saveCheckpoint(lease, checkpoint('a'), {
    key: 'a',
    attempt: 1,
    at,
    error: { name: 'Error', message: 'once' },
  })
  if (end === 'complete') await store.completeRun(lease, 'null', at)
  else await store.failRun(lease, { name: 'Error', message: '' }, at)
  return id
}

test('weeks are ready a month before their first row, in each table, and are made once', async () => {
  const { store, weeksOf } = await openWeeks()
  const names = ['20260601', '20260608', '20260615', '20260622', '20260629']
  for (const table of ['run', 'outcome', 'step', 'step_failure', 'run_log', 'large_output', 'delivery', 'event_body']) {
    expect(await weeksOf(table)).toEqual([...names, 'old'].map((name) => `${table}_${name}`))
  }
  expect(await store.readServerState()).toMatchObject({
    weeksUntil: FIRST + 4 * WEEK,
    standbys: 0,
    lagBytes: null,
    deadRows: expect.any(Number),
    mostConnections: expect.any(Number),
  })
  expect(await store.pruneWeek(KEEP_ALL, NOW + 6 * DAY)).toBeNull()
  expect(await weeksOf('run')).toHaveLength(6)
  await store.pruneWeek(KEEP_ALL, NOW + WEEK)
  expect((await weeksOf('run')).slice(4)).toEqual(['run_20260629', 'run_20260706', 'run_old'])
})

test('a check of the database finds rows whose week was not made', async () => {
  const { store, session } = await openWeeks()
  await finish(store, 'evt_1', NOW)
  const find = async () => {
    const { checks } = await verifyPostgres(session, 'here')
    return checks.filter(({ passed }) => !passed).map(({ name }) => name)
  }
  expect(await find()).toEqual([])
  await finish(store, 'evt_2', NOW + 5 * WEEK)
  expect(await find()).toEqual(['the weeks are ready before their rows'])
})

test('a week whose runs are over goes at once, with all that belongs to them', async () => {
  const { store, weeksOf, ids } = await openWeeks()
  await finish(store, 'evt_1', NOW)
  const failed = await finish(store, 'evt_2', NOW, 'fail')
  const later = await finish(store, 'evt_3', SECOND)
  const pending = await queueAt(store, 'evt_4', NOW)
  const bounds = { ...upTo(SECOND), deliveries: null, payloads: null, failures: NOW }
  expect(await store.pruneWeek({ ...bounds, runs: SECOND - 1 }, THIRD)).toBeNull()
  expect(await store.pruneWeek(bounds, THIRD)).toEqual({ runs: 1, failures: 0 })
  expect(await store.pruneWeek(bounds, THIRD)).toBeNull()
  expect(await weeksOf('step')).not.toContain('step_20260601')
  expect((await ids('SELECT id FROM run ORDER BY id')).toSorted()).toEqual([failed, later, pending].toSorted())
  expect((await ids('SELECT run_id FROM step')).toSorted()).toEqual([failed, later].toSorted())
  expect((await ids('SELECT run_id FROM step_failure')).toSorted()).toEqual([failed, later].toSorted())
  expect((await ids('SELECT run_id FROM run_tag')).toSorted()).toEqual([failed, later].toSorted())
  // The rest goes row by row, by its own age.
  const slice = { kind: 'failures' as const, before: SECOND, limit: 100, after: null }
  expect((await store.prune(slice)).pruned).toBe(1)
  expect(await store.findRun(failed)).toBeNull()
  expect(await store.findRun(pending)).toMatchObject({ status: 'pending' })
})

test('the counters of deletes go after the week of their runs', async () => {
  const { store, session, ids } = await openWeeks()
  const [gone, failed] = [await queueAt(store, 'evt_1', NOW), await queueAt(store, 'evt_2', NOW)]
  for (const end of ['complete', 'fail'] as const) {
    const { lease } = await claimNext(store)
    await beginDelete(store, lease, checkpoint('a'), { asked: { path: '/in/a.pdf', bytes: 1, modifiedAt: null } })
    if (end === 'complete') await store.completeRun(lease, 'null', NOW)
    else await store.failRun(lease, { name: 'Error', message: '' }, NOW)
  }
  const counted = async () => new Set(await ids(`SELECT substr(scope, 5, 27) FROM guard_use WHERE width = 0`))
  expect(await counted()).toEqual(new Set([gone, failed]))
  const bounds = { ...upTo(SECOND), deliveries: null, payloads: null, failures: NOW }
  expect(await store.pruneWeek(bounds, THIRD)).toEqual({ runs: 1, failures: 0 })
  await store.prune({ kind: 'runs', before: SECOND, limit: 100, after: null })
  expect(await counted()).toEqual(new Set([failed]))
  expect((await session.query('SELECT FROM pruned_run')).rowCount).toBe(0)
})

test('a count before a prune names the weeks that go at once, with their size, and the rows in them', async () => {
  const { store } = await openWeeks()
  await finish(store, 'evt_1', NOW)
  await finish(store, 'evt_2', NOW, 'fail')
  await finish(store, 'evt_3', SECOND)
  const count = (kind: PruneKind, bounds: PruneBounds) => store.countPrunable({ kind, bounds, now: THIRD, limit: 99 })
  const atOnce = { count: 1, bytes: expect.toSatisfy((bytes: number) => bytes > 0) }
  const before = upTo(SECOND)
  expect(await count('runs', before)).toEqual({ rows: 1, isComplete: true, bytes: null, weeks: atOnce })
  expect(await count('failures', before)).toEqual({ rows: 1, isComplete: true, bytes: null, weeks: null })
  expect(await count('deliveries', before)).toMatchObject({ rows: 2, weeks: atOnce })
  expect(await count('payloads', before)).toMatchObject({ rows: 2, weeks: atOnce })
  // A week that is not all old enough stays whole.
  const slice = { kind: 'runs' as const, before: SECOND - 1, limit: 99, after: null }
  expect((await store.prune(slice)).pruned).toBe(0)
  expect(await count('runs', upTo(SECOND - 1))).toEqual({ rows: 0, isComplete: true, bytes: null, weeks: null })
  expect(await store.pruneWeek(before, THIRD)).not.toBeNull()
  expect(await count('runs', before)).toMatchObject({ rows: 0 })
})

test('a run that begins again while its week is read stays, with its journal', async () => {
  const { store, session } = await openWeeks()
  const failed = await finish(store, 'evt_1', NOW, 'fail')
  const ended = await finish(store, 'evt_2', NOW, 'fail')
  await store.retryRun(failed, THIRD)
  await store.retryRun(ended, THIRD)
  await store.claimRuns('wrk_1', 1, THIRD)
  const [{ lease } = { lease: { runId: '', fence: 0, worker: '' } }] = await store.claimRuns('wrk_1', 1, THIRD)
  await store.completeRun(lease, 'null', THIRD)
  // Nothing was found beforehand that stays.
  const { rows } = await session.query(
    `SELECT drop_runs_1((SELECT lower FROM list_weeks_1('run') WHERE name = 'run_20260608'), '{}', $1) AS kept`,
    [THIRD - 600_000],
  )
  expect(rows).toEqual([{ kept: 2 }])
  expect(await store.findRun(failed)).toMatchObject({ status: expect.stringMatching(/running|completed/) })
  expect(await store.findRun(ended)).not.toBeNull()
  expect(await store.listSteps(failed)).toHaveLength(1)
})

test('a folded run stays with the run that absorbed it', async () => {
  const { store, session, ids } = await openWeeks()
  const pending = await queueAt(store, 'evt_0', SECOND)
  const [absorber, folded, other] = [
    await finish(store, 'evt_1', NOW),
    await finish(store, 'evt_2', NOW),
    await finish(store, 'evt_3', NOW),
  ]
  await session.query('UPDATE outcome SET folded_into = $1 WHERE run_id = $2', [absorber, folded])
  await session.query('UPDATE outcome SET folded_into = $1 WHERE run_id = $2', [pending, other])
  expect(await store.pruneWeek({ ...KEEP_ALL, runs: SECOND, failures: SECOND }, THIRD)).toEqual({
    runs: 2,
    failures: 0,
  })
  expect((await ids('SELECT id FROM run')).toSorted()).toEqual([other, pending].toSorted())
})

test('a folded run stays, with its body, for a fork of the run that absorbed it', async () => {
  const { store, session, ids } = await openWeeks()
  const [absorber, folded] = [await finish(store, 'evt_1', NOW), await finish(store, 'evt_2', NOW)]
  await session.query('UPDATE outcome SET folded_into = $1 WHERE run_id = $2', [absorber, folded])
  await session.query('UPDATE outcome SET folded = 1 WHERE run_id = $1', [absorber])
  const fork = await store.forkRun(absorber, { keys: [], edited: null }, THIRD)
  const prune = () => store.pruneWeek({ ...upTo(SECOND), deliveries: null }, THIRD)
  expect(await prune()).toEqual({ runs: 1, failures: 0 })
  expect(await prune()).toEqual({ payloads: 0 })
  expect((await ids('SELECT id FROM run')).toSorted()).toEqual([folded, fork].toSorted())
  const events = await store.listRunEvents(fork)
  expect(events.map(({ id, body }) => [id, body !== ''])).toEqual([
    ['evt_1', true],
    ['evt_2', true],
  ])
})

test('a run folded into one of another week stays with the unfinished run that has its event', async () => {
  const { store, session, ids } = await openWeeks()
  const [first, folded] = [await finish(store, 'evt_1', SECOND), await finish(store, 'evt_2', NOW)]
  const newest = await queueAt(store, 'evt_3', NOW)
  await session.query('UPDATE outcome SET folded_into = $1 WHERE run_id = $2', [newest, first])
  await session.query('UPDATE outcome SET folded_into = $1 WHERE run_id = $2', [first, folded])
  // As if the newest had come back to work since the runs were looked at.
  const { rows } = await session.query(
    `SELECT drop_runs_1((SELECT lower FROM list_weeks_1('run') WHERE name = 'run_20260608'), '{}', $1) AS kept`,
    [THIRD],
  )
  expect(rows).toEqual([{ kept: 2 }])
  expect((await ids('SELECT id FROM run')).toSorted()).toEqual([first, folded, newest].toSorted())
})

test('a dropped tick is not recorded again, and its neighbours stay', async () => {
  const { store, ids } = await openWeeks()
  await saveLine(store, 'nightly', FIRST)
  for (const at of [NOW, NOW + DAY, SECOND]) await store.recordTick('nightly', { scheduledFor: at, missed: 0 }, at)
  const [run] = await store.claimRuns('wrk_1', 1, NOW)
  if (run) await store.completeRun(run.lease, 'null', NOW)
  expect(await store.pruneWeek({ ...KEEP_ALL, runs: SECOND }, THIRD)).toEqual({ runs: 1, failures: 0 })
  expect(await ids('SELECT scheduled_for FROM tick ORDER BY scheduled_for')).toEqual([NOW + DAY, SECOND].map(String))
  expect(await lastAt(store, 'nightly')).toBe(SECOND)
})

test('bodies go by the week, but for those of unfinished runs, and each event stays known', async () => {
  const { store } = await openWeeks()
  await finish(store, 'evt_1', NOW)
  await finish(store, 'evt_2', SECOND)
  await queueAt(store, 'evt_3', NOW)
  expect(await store.pruneWeek({ ...KEEP_ALL, payloads: SECOND }, THIRD)).toEqual({ payloads: 1 })
  const bodies = Object.fromEntries((await store.listEvents({ limit: 9 })).map(({ id, body }) => [id, body !== '']))
  expect(bodies).toEqual({ evt_1: false, evt_2: true, evt_3: true })
  expect((await store.saveDelivery(incoming('evt_1'))).verdict).toBe('duplicate')
  const [run] = await store.claimRuns('wrk_1', 1, THIRD)
  expect(run).toMatchObject({ cause: { event: { id: 'evt_3', body: expect.stringContaining('evt_3') } } })
})

test('deliveries go by the week once refusals may go as well, which are still counted', async () => {
  const { store, weeksOf } = await openWeeks()
  await store.saveDelivery(incoming('evt_1'))
  const id = incoming('evt_2').id
  await store.saveRefusal({ id, endpointId: null, receivedAt: NOW, verdict: 'stale', bodyBytes: 1, facts: {} })
  expect(await store.pruneWeek({ ...KEEP_ALL, deliveries: SECOND }, THIRD)).toBeNull()
  expect(await store.pruneWeek({ ...KEEP_ALL, deliveries: SECOND, refusals: SECOND }, THIRD)).toEqual({
    deliveries: 1,
    refusals: 1,
  })
  expect(await store.listDeliveries({ limit: 9 })).toEqual([])
  expect(await store.tallyRefusals()).toEqual([{ verdict: 'stale', listed: 0, dropped: 1 }])
  expect(await weeksOf('delivery')).not.toContain('delivery_20260601')
})

test('no row of a week goes alone, unless much of the week has to stay', async () => {
  const { store, session, weeksOf } = await openWeeks()
  const completed = await finish(store, 'evt_1', NOW)
  const slice = { kind: 'runs' as const, before: SECOND, limit: 2_000, after: null }
  expect((await store.prune(slice)).pruned).toBe(0)
  await session.query(
    `INSERT INTO run (id, workflow, created_at)
     SELECT substr($1, 1, 13) || 'x' || n, 'w', 1 FROM generate_series(1, 1001) AS n`,
    [completed],
  )
  await session.query(
    `INSERT INTO outcome (run_id, workflow, status, rank, fence, attempt, finished_at)
     SELECT id, 'w', 'failed', 0, 1, 1, $1 FROM run WHERE workflow = 'w'`,
    [NOW],
  )
  expect(await store.pruneWeek({ ...KEEP_ALL, runs: SECOND, failures: NOW }, THIRD)).toEqual({})
  expect(await weeksOf('run')).toEqual(expect.arrayContaining(['run_20260601']))
  expect(await weeksOf('run')).not.toContain('run_old')
  expect((await store.prune(slice)).pruned).toBe(1)
  expect(await store.findRun(completed)).toBeNull()
})

test('a week that a reader holds stays for the next time, and deliveries pass meanwhile', async () => {
  const { store, session, weeksOf } = await openWeeks()
  await finish(store, 'evt_1', NOW)
  await session.query('BEGIN')
  await session.query('SELECT count(*) FROM run')
  const pruned = store.pruneWeek({ ...KEEP_ALL, runs: SECOND }, SECOND - 1)
  for (let n = 0; n < 50; n++) await queueRun(store, `evt_late_${n}`, 'follow-up', THIRD)
  expect(await pruned).toBeNull()
  expect(await weeksOf('run')).toContain('run_20260601')
  await session.query('COMMIT')
  expect(await store.pruneWeek({ ...KEEP_ALL, runs: SECOND }, SECOND - 1)).toEqual({ runs: 1, failures: 0 })
})

test('an app that was away for months makes its weeks behind the rows that came without', async () => {
  const { store, weeksOf } = await openWeeks()
  const late = FIRST + 20 * WEEK
  await queueAt(store, 'evt_1', late)
  await store.pruneWeek(KEEP_ALL, late + DAY)
  const weeks = await weeksOf('run')
  expect(weeks.slice(-5)).toEqual(['run_20261026', 'run_20261102', 'run_20261109', 'run_20261116', 'run_old'])
})

test('a hook outlives the week of the run that opened it as long as a fork has its step', async () => {
  const { store } = await openWeeks()
  const id = 'hok_00000000000000000000000001'
  const opened = checkpoint('scan', { kind: 'hook', effect: 'read', target: id })
  const rest = { ask: null, data: null, isMany: false, sign: null, openedAt: NOW, expiresAt: THIRD + WEEK }
  const run = await queueAt(store, 'evt_1', NOW)
  const { lease } = await claimNext(store)
  await store.saveCheckpoint(lease, opened, undefined, { hook: { id, account: 'default', ...rest } })
  await store.cancelRun(run, 'by hand', NOW)
  const fork = await store.forkRun(run, { keys: ['scan'], edited: null }, SECOND)
  expect(await store.pruneWeek(upTo(SECOND), THIRD)).toMatchObject({ failures: 1 })
  expect(await store.findRun(run)).toBeNull()
  expect(await store.findHook(id)).toMatchObject({ runId: fork, isAwaited: true })
})
