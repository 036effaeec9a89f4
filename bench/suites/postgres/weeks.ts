import { firstId } from '../../../src/core/ids.ts'
import { type Goal, judge, type Result } from '../../report/result.ts'
import type { Bench } from '../suite.ts'
import { type BenchServer, startServer } from './bench-server.ts'

const GOALS = {
  dropVsDelete: { atLeast: 20 },
  dropVsDeleteLog: { atLeast: 100 },
} as const satisfies Record<string, Goal>

const RUNS = 300_000
const STEPS = 3
/** Runs that one commit deletes. */
const SLICE = 500
/** One run of so many is unfinished, and stays. */
const UNFINISHED = 1_000
const WEEK_MS = 7 * 86_400_000
const HOUR_MS = 3_600_000

/** The price of retention: a week of runs that goes at once, and the same rows by DELETE. */
export async function measureWeeks(bench: Bench): Promise<Result[]> {
  await using server = await startServer(bench)
  await using store = bench.startTarget('stores.ts')
  const dropped = await measure(server, async () => {
    await store.call('open', { urls: [server.url], schema: 'dropped' })
    await fillWeek(server, 'dropped')
    // Runs that ended within minutes of it stay.
    return () => store.call('pruneWeek', { at: Date.now() + HOUR_MS, runs: Date.now() + WEEK_MS })
  })
  const deleted = await measure(server, async () => {
    await store.call('open', { urls: [server.url], schema: 'deleted' })
    await fillWeek(server, 'deleted')
    return () => deleteBySlices(server, 'deleted')
  })
  for (const schema of ['dropped', 'deleted']) {
    const [left] = await server.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${schema}.run`)
    if (left?.count !== RUNS / UNFINISHED) throw new Error(`${left?.count} runs are left in ${schema}`)
  }
  bench.say(`  ${RUNS} runs go by the week: ${describe(dropped)}; by DELETE: ${describe(deleted)}`)
  return [
    judge('postgres.dropVsDelete', deleted.ms / dropped.ms, 'ratio', GOALS.dropVsDelete),
    judge('postgres.dropVsDeleteLog', deleted.logBytes / dropped.logBytes, 'ratio', GOALS.dropVsDeleteLog),
  ]
}

interface Price {
  ms: number
  logBytes: number
}

async function measure(server: BenchServer, prepare: () => Promise<() => Promise<unknown>>): Promise<Price> {
  const perform = await prepare()
  await server.query('CHECKPOINT')
  const readLog = async () => {
    const [row] = await server.query<{ bytes: number }>(
      `SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 AS bytes`,
    )
    return row?.bytes ?? 0
  }
  const before = await readLog()
  const begunAt = performance.now()
  await perform()
  return { ms: performance.now() - begunAt, logBytes: (await readLog()) - before }
}

/** Completed runs of the present week. */
async function fillWeek(server: BenchServer, schema: string): Promise<void> {
  const now = Date.now()
  const from = `generate_series(1, ${RUNS}) AS n`
  const id = `'${firstId('run', now)}' || lpad(n::text, 14, '0')`
  await server.query(`INSERT INTO ${schema}.run (id, workflow, created_at) SELECT ${id}, 'w', ${now} FROM ${from}`)
  await server.query(
    `INSERT INTO ${schema}.outcome (run_id, workflow, status, rank, fence, attempt, started_at, finished_at, output)
     SELECT ${id}, 'w', 'completed', 0, 1, 0, ${now}, ${now}, '{"ok":true}' FROM ${from} WHERE n % ${UNFINISHED} > 0`,
  )
  await server.query(
    `INSERT INTO ${schema}.work (run_id, workflow, status)
     SELECT ${id}, 'w', 'pending' FROM ${from} WHERE n % ${UNFINISHED} = 0`,
  )
  await server.query(
    `INSERT INTO ${schema}.step (run_id, key, position, kind, effect, status, attempt, output, started_at, finished_at)
     SELECT ${id}, 'step-' || key, key, 'run', 'read', 'completed', 1, '{"ok":true}', ${now}, ${now}
     FROM ${from}, generate_series(1, ${STEPS}) AS key`,
  )
  await server.query(`VACUUM ANALYZE ${schema}.run, ${schema}.outcome, ${schema}.step`)
}

/** DELETE in commits that nobody waits for, with the vacuum that it leaves to do. */
async function deleteBySlices(server: BenchServer, schema: string): Promise<void> {
  for (let after = ''; ; ) {
    const [slice] = await server.query<{ last: string | null }>(
      `WITH old AS MATERIALIZED (
         SELECT run_id FROM ${schema}.outcome WHERE run_id > $1 ORDER BY run_id LIMIT ${SLICE}),
       a AS (DELETE FROM ${schema}.step USING old WHERE step.run_id = old.run_id),
       b AS (DELETE FROM ${schema}.outcome USING old WHERE outcome.run_id = old.run_id),
       c AS (DELETE FROM ${schema}.run USING old WHERE run.id = old.run_id)
       SELECT max(run_id) AS last FROM old`,
      [after],
    )
    if (!slice?.last) break
    after = slice.last
  }
  await server.query(`VACUUM ${schema}.run, ${schema}.outcome, ${schema}.step`)
}

function describe({ ms, logBytes }: Price): string {
  return `${(ms / 1_000).toFixed(1)} s and ${(logBytes / 1_000_000).toFixed(1)} MB of log`
}
