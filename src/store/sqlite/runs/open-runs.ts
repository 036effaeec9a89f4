import type { Database } from 'better-sqlite3'
import { PAUSED_REASON, QUEUED_TICK_REASON } from '../../../core/runs/run.ts'
import { MAX_COUNTED, type OpenRuns } from '../../../core/store/runs.ts'

/**
 * Counts runs that are not finished or failed, from partial indexes alone. Prepares its statements
 * at the first call: few processes count.
 */
export function prepareOpenRuns(db: Database): () => OpenRuns {
  let count: (() => OpenRuns) | null = null
  return () => {
    count ??= prepareCounts(db)
    return count()
  }
}

function prepareCounts(db: Database): () => OpenRuns {
  const count = (index: string, where: string) => {
    const bounded = `SELECT 1 FROM run INDEXED BY ${index} WHERE ${where} LIMIT ${MAX_COUNTED}`
    return db.prepare<[], number>(`SELECT count(*) FROM (${bounded})`).pluck()
  }
  const pending = count('run_ready', `status = 'pending'`)
  const running = count('run_leased', `status = 'running'`)
  const timed = count('run_waiting', `status = 'waiting' AND due_at IS NOT NULL`)
  const untimed = count('run_untimed', `status = 'waiting' AND due_at IS NULL`)
  const forPerson = count('run_for_person', FOR_PERSON)
  const failed = count('run_failed', `status = 'failed'`)
  const oldest = prepareOldest(db)
  const read = (statement: typeof pending) => statement.get() ?? 0
  return () => ({
    pending: read(pending),
    running: read(running),
    waiting: Math.min(MAX_COUNTED, read(timed) + read(untimed)),
    forPerson: read(forPerson),
    failed: read(failed),
    oldestPendingAt: oldest.get() ?? null,
  })
}

/** The condition of the index `run_for_person`. */
const FOR_PERSON = `status = 'waiting' AND due_at IS NULL AND awaits = 0 AND gate_state IS NOT 'in_line'
  AND reason NOT IN ('${PAUSED_REASON}', '${QUEUED_TICK_REASON}')`

/** The oldest pending run: the first of each priority in the index, of at most 1,000 priorities. */
function prepareOldest(db: Database) {
  const pending = `FROM run INDEXED BY run_ready WHERE status = 'pending'`
  return db
    .prepare<[], number | null>(
      `WITH RECURSIVE level (priority) AS (
         SELECT max(priority) ${pending}
         UNION SELECT (SELECT max(priority) ${pending} AND run.priority < level.priority)
         FROM level WHERE level.priority IS NOT NULL LIMIT 1000)
       SELECT min((SELECT created_at FROM run WHERE id =
         (SELECT id ${pending} AND run.priority = level.priority ORDER BY id LIMIT 1)))
       FROM level WHERE level.priority IS NOT NULL`,
    )
    .pluck()
}
