import type pg from 'pg'
import { type DatabaseReport, describeCheck } from '../../rows/database-report.ts'

/** Each statement gives its faults, 20 at most. It reads whole tables. */
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
  'every run has its event': `SELECT id FROM run WHERE event_seq IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM event WHERE event.stream = run.event_seq % 8 AND event.seq = run.event_seq)`,
  'every run is in the queue or has an end, and not both': `SELECT run.id FROM run
    LEFT JOIN work ON work.run_id = run.id LEFT JOIN outcome ON outcome.run_id = run.id
    WHERE (work.run_id IS NULL) = (outcome.run_id IS NULL)`,
  'every row of the queue has its run': `SELECT run_id FROM work WHERE NOT EXISTS (
    SELECT 1 FROM run WHERE run.id = work.run_id)`,
  'every end has its run': `SELECT run_id FROM outcome WHERE NOT EXISTS (
    SELECT 1 FROM run WHERE run.id = outcome.run_id)`,
  'every run at work has a worker': `SELECT run_id FROM work WHERE status = 'running' AND worker IS NULL`,
  'every step has its run': `SELECT DISTINCT run_id FROM step WHERE NOT EXISTS (
      SELECT 1 FROM run WHERE run.id = step.run_id)
    AND NOT EXISTS (SELECT 1 FROM pruned_run WHERE pruned_run.run_id = step.run_id)`,
  'every large result is there': `SELECT run_id FROM step WHERE apart_bytes IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM large_output AS large WHERE large.run_id = step.run_id AND large.key = step.key)`,
  'every place belongs to an unfinished run': `SELECT run_id FROM place WHERE NOT EXISTS (
    SELECT 1 FROM work WHERE work.run_id = place.run_id)`,
  'the weeks are ready before their rows': `SELECT id FROM run JOIN list_weeks_1('run') AS open
    ON open.upper IS NULL AND run.id >= open.lower`,
  'every wait belongs to an unfinished run': `SELECT run_id FROM wait WHERE NOT EXISTS (
      SELECT 1 FROM work WHERE work.run_id = wait.run_id)
    AND NOT EXISTS (SELECT 1 FROM withdrawal WHERE withdrawal.run_id = wait.run_id)`,
}

const MAX_FAULTS = 20

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
