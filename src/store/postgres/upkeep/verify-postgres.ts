import type pg from 'pg'
import { POSTGRES } from '../../dialect.ts'
import { type DatabaseReport, describeCheck } from '../../rows/database-report.ts'
import { MAX_FAULTS, rowChecks } from '../../tables/upkeep/row-checks.ts'

/** Each statement gives its faults. It reads whole tables. */
const CHECKS: Record<string, string> = {
  'every event is known by its identity': `SELECT event.id FROM event WHERE NOT EXISTS (
    SELECT 1 FROM event_identity AS known WHERE known.seq = event.seq)`,
  'every identity has its event': `SELECT identity::text FROM event_identity AS known WHERE NOT EXISTS (
    SELECT 1 FROM event WHERE event.stream = known.seq % 8 AND event.seq = known.seq)`,
  'every event is in its stream': `SELECT id FROM event WHERE stream <> stream_of(account) OR stream <> seq % 8`,
  'every stream counts past its events': `SELECT stream.id::text FROM stream
    WHERE seq < (SELECT max(event.seq) FROM event WHERE event.stream = stream.id)`,
  'every body has its event': `SELECT seq::text FROM event_body AS body WHERE NOT EXISTS (
    SELECT 1 FROM event WHERE event.stream = body.seq % 8 AND event.seq = body.seq)`,
  ...rowChecks(POSTGRES),
  'the weeks are ready before their rows': `SELECT id FROM run JOIN list_weeks_1('run') AS open
    ON open.upper IS NULL AND run.id >= open.lower`,
}

/** Checks the rows of one moment against each other, also beside a running app. */
export async function verifyPostgres(
  client: pg.Client,
  place: string,
  onProgress?: (part: { done: number; total: number }) => void,
): Promise<DatabaseReport> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  await client.query('SET LOCAL idle_in_transaction_session_timeout = 0')
  try {
    const checks = []
    const all = Object.entries(CHECKS)
    for (const [name, sql] of all) {
      onProgress?.({ done: checks.length, total: all.length })
      const { rows } = await client.query<[string]>({ text: `${sql} LIMIT ${MAX_FAULTS}`, rowMode: 'array' })
      checks.push(describeCheck(name, rows.flat()))
    }
    return { file: place, passed: checks.every(({ passed }) => passed), checks, rows: await countRows(client) }
  } finally {
    await client.query('ROLLBACK')
  }
}

async function countRows(client: pg.Client): Promise<Record<string, number>> {
  const tables = await client.query<{ name: string }>(
    `SELECT relname::text AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace
       AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY relname`,
  )
  const counts: Record<string, number> = {}
  for (const { name } of tables.rows) {
    const { rows } = await client.query<{ count: number }>(`SELECT count(*) AS count FROM "${name}"`)
    counts[name] = Number(rows[0]?.count ?? 0)
  }
  return counts
}
