import type pg from 'pg'
import { expect, test } from 'vitest'
import type { ClaimedRun } from '../../../../src/core/runs/claim.ts'
import { PAUSED_REASON } from '../../../../src/core/runs/run.ts'
import type { Store } from '../../../../src/core/store/store.ts'
import { Connection } from '../../../../src/store/postgres/database/connection.ts'
import { openTables } from '../../../../src/store/postgres/tables.ts'
import { createVault } from '../../../../src/store/vault.ts'
import { askAdmission, concurrency } from '../../../contract/support/ask-admission.ts'
import { claimNext } from '../../../contract/support/claim-next.ts'
import { checkpoint, incoming, NOW } from '../../../support/fixtures.ts'
import { makeSchema, openTestPostgres } from '../../../support/postgres-store.ts'
import { openTwo } from '../support/open-two.ts'
import { type Sent, spyQueries } from '../support/spy-queries.ts'

interface Counting {
  place: ReturnType<typeof makeSchema>
  session: pg.Client
  sent: Sent[]
}

/** Resolves once all sessions since a moment have ended: the server then has all their counts. */
async function ended(session: pg.Client, pids: number[], since: Date): Promise<void> {
  const running = 'SELECT 1 FROM pg_stat_activity WHERE pid = ANY ($1) AND backend_start > $2'
  while ((await session.query(running, [pids, since])).rowCount !== 0);
}

/** Uses a store, with what the server counted for each table meanwhile. */
async function countRows({ place, session, sent }: Counting, columns: string, use: (store: Store) => Promise<unknown>) {
  const count = async () => {
    const { rows } = await session.query<{ name: string; sum: number }>(
      `SELECT relname AS name, (${columns})::int AS sum FROM pg_stat_user_tables WHERE schemaname = current_schema()`,
    )
    return new Map(rows.map(({ name, sum }) => [name, sum]))
  }
  // Rows that this session has read count as before.
  await session.query('SELECT pg_stat_force_next_flush()')
  const before = await count()
  // Stores that are open already keep their sessions, and those speak now and then.
  const { rows } = await session.query<{ now: Date }>('SELECT clock_timestamp() AS now')
  const since = rows[0]?.now ?? new Date()
  const earlier = sent.length
  const store = await openTestPostgres(place)
  await use(store)
  await store.close()
  const pids = sent.slice(earlier).map(({ client }) => (client as pg.Client & { processID: number }).processID)
  await ended(session, [...new Set(pids)], since)
  const after = await count()
  return [...after].map(([name, sum]) => ({ name, sum: sum - (before.get(name) ?? 0) })).filter(({ sum }) => sum > 0)
}

const MANY = 20_000

/** Runs that wait, before as many that are pending; the former stand at another key of a gate. */
const FILL = `
  ALTER TABLE work SET (autovacuum_enabled = off);
  ALTER TABLE gate_slot SET (autovacuum_enabled = off);
  INSERT INTO work (run_id, workflow, status)
    SELECT 'run_00w' || n, 'follow-up', 'waiting' FROM generate_series(1, ${MANY}) AS n;
  INSERT INTO run (id, workflow, event_seq, created_at)
    SELECT 'run_00z' || n, 'follow-up', 8, 1 FROM generate_series(1, ${MANY}) AS n;
  INSERT INTO work (run_id, workflow, status) SELECT id, workflow, 'pending' FROM run WHERE starts_with(id, 'run_00z');
  INSERT INTO step (run_id, key, position, kind, effect, status, attempt, started_at)
    SELECT id, 'a', 0, 'run', 'read', 'completed', 1, 1 FROM run WHERE starts_with(id, 'run_00z');
  INSERT INTO gate_slot SELECT 'follow-up', 'concurrency-1', 'other', 0, 0, run_id, 0, NULL FROM work
    WHERE starts_with(run_id, 'run_00w');`

/** Rows that a call about one run, or a claim of 20, reads of all tables together. */
const MOST = 400

test.each([
  { when: 'of before the rows', statements: ['ANALYZE', FILL] },
  // Each a query of its own: ANALYZE locks the tables of other tests, too, one after the other.
  { when: 'of the rows', statements: [FILL, 'ANALYZE'] },
])('hot calls read as many rows at 20,000 runs as at few, with statistics $when', async ({ statements }) => {
  const place = makeSchema()
  const { one, session } = await openTwo(place)
  const counting = { place, session, sent: spyQueries() }
  await one.saveDelivery(incoming('evt_1', { workflows: [] }))
  await one.saveDelivery(incoming('evt_own'))
  await one.saveDelivery(incoming('evt_limited'))
  const plain = (await claimNext(one)).lease
  const limited = await claimNext(one)
  await askAdmission(one, limited, { gates: [concurrency] })
  for (const statement of statements) await session.query(statement)
  const seq = (await session.query('SELECT seq FROM event ORDER BY seq LIMIT 1')).rows[0].seq
  await session.query('UPDATE run SET event_seq = $1 WHERE event_seq = 8', [seq])
  const claimed: ClaimedRun[] = []
  const calls: Record<string, (store: Store) => Promise<unknown>> = {
    claim: async (store) => claimed.push(...(await store.claimRuns('wrk_1', 20, NOW))),
    steps: (store) => store.saveCheckpoint(plain, checkpoint('a')),
    end: (store) => store.completeRun(plain, 'null', NOW),
    limitedEnd: (store) => store.completeRun(limited.lease, 'null', NOW),
    delivery: (store) => store.saveDelivery(incoming('evt_2')),
  }
  for (const [name, call] of Object.entries(calls)) {
    const read = await countRows(counting, 'coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)', call)
    const sum = read.reduce((total, table) => total + table.sum, 0)
    expect(sum, `${name}: ${JSON.stringify(read)}`).toBeLessThan(MOST)
  }
  expect(claimed).toHaveLength(20)
})

test('a claim that meets runs of a paused workflow holds the next ones, and no more', async () => {
  const { session } = await openTwo(makeSchema())
  await session.query(FILL)
  await session.query('ANALYZE')
  await session.query(`INSERT INTO workflow_pause (workflow, paused_at) VALUES ('follow-up', 1)`)
  const claims = openTables(new Connection(session), createVault(Buffer.alloc(32))).claims
  const start = { turns: [], after: [], due: null, round: 0 }
  expect(await claims.hold('any', 'wrk_1', { limit: 20, now: NOW, start })).toBe(20)
  const { rows } = await session.query(`SELECT run_id FROM work WHERE reason = '${PAUSED_REASON}'`)
  expect(rows).toHaveLength(20)
})

test('a batch of matching deletes its old keys, and reads no others', async () => {
  const { session } = await openTwo(makeSchema())
  await session.query(`
    INSERT INTO event_key SELECT 1, 'default', 'v' || n, n FROM generate_series(1, ${MANY}) AS n; ANALYZE event_key;`)
  const { cursors } = openTables(new Connection(session), createVault(Buffer.alloc(32)))
  await session.query('BEGIN')
  // Far enough behind the cursor are the first 100 keys.
  await cursors.move(1, { from: 0, to: 8_000_000 + 100, now: NOW })
  const { rows } = await session.query(
    `SELECT seq_tup_read::int AS read, n_tup_del::int AS deleted FROM pg_stat_xact_user_tables
     WHERE relname = 'event_key' AND schemaname = current_schema()`,
  )
  await session.query('COMMIT')
  expect(rows).toEqual([{ read: 0, deleted: 100 }])
})

/** Events of finished runs, each with its body; ids of runs sort by time. */
const FILL_BODIES = `
  INSERT INTO event_body SELECT n, n, '{}' FROM generate_series(1, ${MANY}) AS n;
  INSERT INTO run (id, workflow, event_seq, created_at)
    SELECT 'run_00z' || n, 'follow-up', n, 1 FROM generate_series(1, ${MANY}) AS n;
  INSERT INTO outcome (run_id, workflow, status, rank, fence, attempt, finished_at)
    SELECT id, workflow, 'completed', 0, 1, 1, 1 FROM run WHERE starts_with(id, 'run_00z');
  ANALYZE event_body, run, outcome;`

/** All of them were folded into the first, and other runs have the events of others. */
const FOLD = `
  UPDATE outcome SET folded_into = 'run_00z1' WHERE run_id > 'run_00z1';
  UPDATE run SET events_of = 'run_other' || id WHERE event_seq > 1000;
  ANALYZE run, outcome;`

test.each([
  { which: 'its events', fill: FILL_BODIES },
  { which: 'its events, and those into which they were folded', fill: `${FILL_BODIES} ${FOLD}` },
])('a slice of bodies to prune reads the runs of $which, and not the history', async ({ fill }) => {
  const place = makeSchema()
  const { session } = await openTwo(place)
  await session.query(fill)
  const counting = { place, session, sent: spyQueries() }
  const read = await countRows(counting, 'coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)', async (store) => {
    const { pruned } = await store.prune({ kind: 'payloads', before: NOW, after: null, limit: 100 })
    expect(pruned).toBe(100)
  })
  const sum = read.reduce((total, table) => total + table.sum, 0)
  expect(sum, JSON.stringify(read)).toBeLessThan(10 * 100)
})

/** Small tables, whose dead rows are cleaned by number of changes. */
const SMALL = ['stream', 'work', 'worker', 'workflow_version', 'match_cursor', 'wait', 'gate_slot', 'gate_rule']

test('rows of large tables are written once: only the queue and small tables change', async () => {
  const place = makeSchema()
  const { session } = await openTwo(place)
  const changed = await countRows({ place, session, sent: spyQueries() }, 'n_tup_upd + n_tup_del', async (store) => {
    await store.startWorker('wrk_1', NOW)
    for (let n = 0; n < 9; n++) await store.saveDelivery(incoming(`evt_${n}`))
    for (const { lease } of await store.claimRuns('wrk_1', 9, NOW)) {
      for (const key of ['a', 'b', 'c']) await store.saveCheckpoint(lease, checkpoint(key))
      await store.parkRun(lease, { dueAt: NOW, reason: 'sleeps' })
    }
    for (const { lease } of await store.claimRuns('wrk_1', 9, NOW)) await store.completeRun(lease, 'null', NOW)
  })
  expect(changed.map(({ name }) => name).filter((name) => !SMALL.includes(name))).toEqual([])
  expect(changed.find(({ name }) => name === 'work')?.sum).toBeGreaterThan(9)
})
