import { PAUSED_REASON } from '../../src/core/runs/run.ts'
import { BODY_PARTS, EVENT_TYPE } from '../deliveries.ts'
import type { BenchServer } from '../suites/postgres/bench-server.ts'

const BATCH = 500_000
const AT = Date.UTC(2026, 0, 1)
const YEAR_MS = 365 * 86_400_000

/** Fills a schema that is there as `prefillEvents` fills a file. Ids are older than real ones. */
export async function prefillPostgres(
  server: BenchServer,
  schema: string,
  { events, waitingOf }: { events: number; waitingOf: number },
): Promise<void> {
  const run = (from: number, statement: (numbers: string) => string) => {
    const numbers = `generate_series(${from}, ${Math.min(events, from + BATCH - 1)}) AS n`
    return server.query(`SET LOCAL synchronous_commit = off; SET LOCAL search_path = ${schema}; ${statement(numbers)}`)
  }
  const [before, after] = BODY_PARTS
  const seq = `stream_of('default') + 8 * n::bigint`
  const id = (kind: string) => `'${kind}_' || lpad(n::text, 9, '0') || substr(md5(n::text), 1, 14)`
  const kind = `n / ${waitingOf} % 3`
  const isWaiting = `n % ${waitingOf} = 0`
  const statements = [
    `INSERT INTO event (stream, seq, id, account, type, origin, created_at, received_at)
     SELECT stream_of('default'), ${seq}, 'evt_' || md5(n::text), 'default', '${EVENT_TYPE}', 'webhook', ${AT} + n,
       ${AT} + n`,
    `INSERT INTO event_identity (identity, seq, body_hash) SELECT gen_random_uuid(), ${seq}, gen_random_uuid()`,
    `INSERT INTO event_body (received_at, seq, body)
     SELECT ${AT} + n, ${seq}, '${before}' || md5(n::text) || '${after}'`,
    `INSERT INTO delivery (id, endpoint_id, received_at, verdict, event_id, event_seq, body_bytes, facts)
     SELECT ${id('dlv')}, 'end_01hzy3v7q2m8abcdefghjk', ${AT} + n, 'accepted', 'evt_' || md5(n::text), ${seq}, 1024,
       '{"secret":0}'`,
    `INSERT INTO run (id, workflow, event_seq, created_at) SELECT ${id('run')}, 'measured', ${seq}, ${AT} + n`,
  ]
  const ends = [
    `INSERT INTO work (run_id, workflow, status, fence, started_at, due_at, awaits, reason)
     SELECT ${id('run')}, 'measured', 'waiting', 1, ${AT} + n, CASE ${kind} WHEN 0 THEN ${Date.now() + YEAR_MS} END,
       CASE ${kind} WHEN 1 THEN 1 ELSE 0 END, CASE ${kind} WHEN 2 THEN '${PAUSED_REASON}' END`,
    `INSERT INTO outcome (run_id, workflow, status, rank, fence, attempt, started_at, finished_at, output)
     SELECT ${id('run')}, 'measured', 'completed', 0, 1, 0, ${AT} + n, ${AT} + n, 'null'`,
  ] as const
  for (let from = 1; from <= events; from += BATCH) {
    for (const each of statements) await run(from, (numbers) => `${each} FROM ${numbers}`)
    await run(from, (numbers) => `${ends[0]} FROM ${numbers} WHERE ${isWaiting}`)
    await run(from, (numbers) => `${ends[1]} FROM ${numbers} WHERE NOT (${isWaiting})`)
  }
  await server.query(
    `UPDATE ${schema}.stream SET seq = id + 8 * ${events}::bigint WHERE id = ${schema}.stream_of('default')`,
  )
  const tables = ['event', 'event_identity', 'event_body', 'delivery', 'run', 'work', 'outcome']
  await server.query(`VACUUM ANALYZE ${tables.map((table) => `${schema}.${table}`).join(', ')}`)
}
