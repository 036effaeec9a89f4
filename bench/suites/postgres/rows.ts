import { type Goal, judge, median, type Result } from '../../report/result.ts'
import type { Bench } from '../suite.ts'
import { type BenchServer, startServer } from './bench-server.ts'

const GOALS = { claimAt1MPending: { atMost: 1.5 } } as const satisfies Record<string, Goal>

const PENDING = { few: 1_000, many: 1_000_000 }
const CLAIMED = 50
const CLAIMS = 200

/** The price of many rows. */
export async function measureRows(bench: Bench): Promise<Result[]> {
  await using server = await startServer(bench)
  await using few = bench.startTarget('stores.ts')
  await using many = bench.startTarget('stores.ts')
  const targets = { few, many }
  const times = { few: [] as number[], many: [] as number[] }
  for (const size of ['few', 'many'] as const) {
    await targets[size].call('open', { urls: [server.url], schema: size })
    await fillPending(server, size, PENDING[size])
  }
  await bench.patience.waitForCalm()
  for (let round = 0; round < CLAIMS; round++) {
    for (const size of ['few', 'many'] as const) {
      const micros = await targets[size].call<number>('claimOnce', { limit: CLAIMED })
      if (round >= CLAIMS / 10) times[size].push(micros)
    }
  }
  const [fast, slow] = [median(times.few), median(times.many)]
  bench.say(`  a claim of ${CLAIMED} takes ${Math.round(fast)} µs, at a million pending runs ${Math.round(slow)} µs`)
  return [judge('postgres.claimAt1MPending', slow / fast, 'ratio', GOALS.claimAt1MPending)]
}

/** Runs of a thousand events, oldest first. */
export async function fillPending(server: BenchServer, schema: string, count: number): Promise<void> {
  const id = `'run_' || lpad(n::text, 13, '0') || substr(md5(n::text), 1, 10)`
  await server.query(
    `INSERT INTO ${schema}.event (stream, seq, id, account, type, origin, created_at, received_at)
     SELECT 0, 8 * n, 'evt_' || n, 'default', 'file.created', 'webhook', 1, 1 FROM generate_series(1, 1000) AS n`,
  )
  await server.query(
    `WITH made AS (INSERT INTO ${schema}.run (id, workflow, event_seq, created_at)
       SELECT ${id}, 'measured', 8 * (n % 1000 + 1), 1 FROM generate_series(1, ${count}) AS n RETURNING id)
     INSERT INTO ${schema}.work (run_id, workflow, status) SELECT id, 'measured', 'pending' FROM made`,
  )
  await server.query(`VACUUM ANALYZE ${schema}.work, ${schema}.run, ${schema}.event`)
}

/** Completed runs, each with a tag of 1,000 customers and one of ten regions. */
export async function fillTagged(server: BenchServer, schema: string, count: number): Promise<void> {
  const id = `'run_' || lpad(n::text, 13, '0') || substr(md5(n::text), 1, 10)`
  await server.query(
    `WITH made AS (INSERT INTO ${schema}.run (id, workflow, created_at)
       SELECT ${id}, 'measured', 1 FROM generate_series(1, ${count}) AS n RETURNING id)
     INSERT INTO ${schema}.outcome (run_id, workflow, status, rank, fence, attempt, started_at, finished_at, output)
       SELECT id, 'measured', 'completed', 0, 1, 0, 1, 1, 'null' FROM made`,
  )
  await server.query(
    `INSERT INTO ${schema}.run_tag (run_id, name, value)
     SELECT ${id}, tag.name, tag.letter || (n % tag.kinds)
     FROM generate_series(1, ${count}) AS n,
       (VALUES ('customer', 'c', 1000), ('region', 'r', 10)) AS tag (name, letter, kinds)`,
  )
  await server.query(`VACUUM ANALYZE ${schema}.run, ${schema}.outcome, ${schema}.run_tag`)
}
