import type { RunRoot } from '../../../core/runs/trace.ts'
import { MAX_CHAIN } from '../../../core/runs/wait.ts'
import type { Connection } from '../../connection.ts'

interface RootRow {
  id: string
  workflow: string
  tick_at: number | null
  schedule: string | null
  event: string | null
  account: string | null
}

/** Finds the root of an invoked run: the cause of the run at the top of its invocations. */
export function prepareFindRoot(db: Connection): (runId: string, workflow: string) => Promise<RunRoot> {
  // Index: primary keys of run and event, once for each invocation above the run. Subqueries have
  // one row: PostgreSQL expects many rows of a recursion, and would read all runs instead.
  const top = db.prepare<[string], RootRow>(
    `WITH RECURSIVE above (id, parent, level) AS (
       SELECT id, parent_run, 0 FROM run WHERE id = ?
       UNION SELECT parent, (SELECT parent_run FROM run WHERE run.id = above.parent), level + 1
         FROM above WHERE parent IS NOT NULL AND level < ${MAX_CHAIN})
     SELECT run.id, run.workflow, run.tick_at, run.schedule, event.id AS event, event.account
     FROM run LEFT JOIN event ON ${db.sql.isEvent('run.event_seq')}
     WHERE run.id = (SELECT above.id FROM above WHERE above.parent IS NULL)`,
  )
  return async (runId, workflow) => {
    const found = await top.get(runId)
    if (found?.event != null) return { kind: 'event', account: found.account ?? 'default', event: found.event }
    if (found && found.tick_at === null) return { kind: 'start', run: found.id }
    const schedule = found?.schedule ?? found?.workflow ?? workflow
    return { kind: 'tick', schedule, scheduledFor: found?.tick_at ?? 0 }
  }
}
