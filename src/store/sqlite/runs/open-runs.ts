import { PAUSED_REASON, QUEUED_TICK_REASON } from '../../../core/runs/run.ts'
import { MAX_COUNTED, type OpenRuns } from '../../../core/store/runs.ts'
import type { Connection } from '../../connection.ts'

/**
 * Counts runs that are not finished or failed, from partial indexes alone. Prepares its statements
 * at the first call: few processes count.
 */
export function prepareOpenRuns(db: Connection): (now: number) => Promise<OpenRuns> {
  let count: ((now: number) => Promise<OpenRuns>) | null = null
  return async (now) => {
    count ??= prepareCounts(db)
    return count(now)
  }
}

function prepareCounts(db: Connection): (now: number) => Promise<OpenRuns> {
  const count = (index: string, where: string) => {
    const bounded = `SELECT 1 FROM run INDEXED BY ${index} WHERE ${where} LIMIT ${MAX_COUNTED}`
    return db.prepare<[], number>(`SELECT count(*) FROM (${bounded})`).pluck()
  }
  const pending = count('run_ready', `status = 'pending'`)
  const running = count('run_leased', `status = 'running'`)
  const waiting = count('run_waiting', `status = 'waiting'`)
  const forPerson = count('run_for_person', FOR_PERSON)
  const openFailures = prepareOpenFailures(db)
  const oldest = prepareOldest(db)
  const read = async (statement: typeof pending) => (await statement.get()) ?? 0
  return async (now) => ({
    pending: await read(pending),
    running: await read(running),
    waiting: await read(waiting),
    forPerson: await read(forPerson),
    openFailures: (await openFailures.get({ now })) ?? 0,
    oldestPendingAt: (await oldest.get()) ?? null,
  })
}

/** The condition of the index `run_for_person`. */
const FOR_PERSON = `status = 'waiting' AND due_at IS NULL AND awaits = 0 AND gate_state IS NOT 'in_line'
  AND reason NOT IN ('${PAUSED_REASON}', '${QUEUED_TICK_REASON}')`

/**
 * Unresolved failures of each kind, newer than its own resolution; none of a snoozed kind. Walks
 * the kinds along the index, so a resolved kind costs one look, however many runs it has.
 */
function prepareOpenFailures(db: Connection) {
  const failed = `FROM run INDEXED BY run_failure_kind WHERE status = 'failed' AND resolution IS NULL AND failure_group`
  return db
    .prepare<{ now: number }, number>(
      `WITH RECURSIVE kind (id) AS (
         SELECT min(failure_group) ${failed} IS NOT NULL
         UNION SELECT (SELECT min(failure_group) ${failed} > kind.id) FROM kind WHERE kind.id IS NOT NULL)
       SELECT count(*) FROM (
         SELECT 1 FROM kind LEFT JOIN failure_state AS state ON state.failure_group = kind.id
           JOIN run INDEXED BY run_failure_kind ON run.status = 'failed' AND run.resolution IS NULL
             AND run.failure_group = kind.id
             AND run.finished_at > iif(state.kind = 'resolved', state.set_at, 0)
         WHERE kind.id IS NOT NULL AND NOT (state.kind IS 'snoozed' AND @now < state.until)
         LIMIT ${MAX_COUNTED})`,
    )
    .pluck()
}

/** The oldest pending run: the first of each turn in the index, of at most 1,000. */
function prepareOldest(db: Connection) {
  const pending = `FROM run INDEXED BY run_ready WHERE status = 'pending'`
  return db
    .prepare<[], number | null>(
      `WITH RECURSIVE level (turn) AS (
         SELECT min(turn) ${pending}
         UNION SELECT (SELECT min(turn) ${pending} AND run.turn > level.turn)
         FROM level WHERE level.turn IS NOT NULL LIMIT 1000)
       SELECT min((SELECT created_at FROM run WHERE id =
         (SELECT id ${pending} AND run.turn = level.turn ORDER BY id LIMIT 1)))
       FROM level WHERE level.turn IS NOT NULL`,
    )
    .pluck()
}
