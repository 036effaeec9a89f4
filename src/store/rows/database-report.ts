import type { Dialect } from '../dialect.ts'

/** The result of one check. */
export interface DatabaseCheck {
  name: string
  passed: boolean
  /** `ok`, or the first faults. */
  found: string
}

export interface DatabaseReport {
  /** Path of the file; host, database and schema of PostgreSQL. */
  file: string
  passed: boolean
  checks: DatabaseCheck[]
  /** Row counts by table. */
  rows: Record<string, number>
}

/** Rows that belong to a run. Those of a pruned one may be left, and go next. */
const ofRun = (table: string) => `SELECT DISTINCT run_id FROM ${table} WHERE NOT EXISTS (
    SELECT 1 FROM run WHERE run.id = ${table}.run_id)
  AND NOT EXISTS (SELECT 1 FROM pruned_run WHERE pruned_run.run_id = ${table}.run_id)`

/** Statements that give the faults of rows, on both databases. They read whole tables. */
export const rowChecks = ({ isEvent }: Dialect): Record<string, string> => ({
  'every run has its event': `SELECT id FROM run WHERE event_seq IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM event WHERE ${isEvent('run.event_seq')})`,
  'every run is in the queue or has an end, and not both': `SELECT run.id FROM run
    LEFT JOIN work ON work.run_id = run.id LEFT JOIN outcome ON outcome.run_id = run.id
    WHERE (work.run_id IS NULL) = (outcome.run_id IS NULL)`,
  'every row of the queue has its run': `SELECT run_id FROM work WHERE NOT EXISTS (
    SELECT 1 FROM run WHERE run.id = work.run_id)`,
  'every end has its run': `SELECT run_id FROM outcome WHERE NOT EXISTS (
    SELECT 1 FROM run WHERE run.id = outcome.run_id)`,
  'every run at work has a worker': `SELECT run_id FROM work WHERE status = 'running' AND worker IS NULL`,
  'every step has its run': ofRun('step'),
  'every failed attempt has its run': ofRun('step_failure'),
  'every log line has its run': ofRun('run_log'),
  'every large result is there': `SELECT run_id FROM step WHERE apart_bytes IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM large_output AS large WHERE large.run_id = step.run_id AND large.key = step.key)`,
  'every place belongs to an unfinished run': `SELECT run_id FROM place WHERE NOT EXISTS (
    SELECT 1 FROM work WHERE work.run_id = place.run_id)`,
  'every wait belongs to an unfinished run': `SELECT run_id FROM wait WHERE NOT EXISTS (
      SELECT 1 FROM work WHERE work.run_id = wait.run_id)
    AND NOT EXISTS (SELECT 1 FROM withdrawal WHERE withdrawal.run_id = wait.run_id)`,
})

/** Faults that a statement gives at most. */
export const MAX_FAULTS = 20

/** Faults that a check shows. */
const EXAMPLES = 3

/** The result of a check that found these faults. */
export function describeCheck(name: string, faults: readonly string[]): DatabaseCheck {
  const rest = faults.length > EXAMPLES ? ', …' : ''
  return { name, passed: faults.length === 0, found: faults.slice(0, EXAMPLES).join(', ') + rest || 'ok' }
}

/** The forecast of a migration. */
export interface MigrationForecast {
  /** Number of the schema that is there, and of the one that this version makes. */
  before: number
  after: number
  /** Files of the migrations, in their order. */
  missing: readonly string[]
  /** Processes that lived a moment ago, with their versions. */
  processes: readonly { version: string; role: string; pid: number }[]
  /** Runs that have not ended. */
  unfinished: number
  /** A migration of a copy, of this size; null: nothing is missing, or the database is no file. */
  tried: { bytes: number; ms: number } | null
  /** Tables that the migrations change; the rows are a guess. Empty for a file, which was tried. */
  tables: readonly { name: string; rows: number; bytes: number }[]
}

/** Index: none is needed for so few rows. `?`: the moment before which a process is gone. */
export const LIVE_PROCESSES = 'SELECT version, role, pid FROM process WHERE seen_at >= ? ORDER BY started_at'
