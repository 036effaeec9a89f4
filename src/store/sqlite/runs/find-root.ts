import type { RunRoot } from '../../../core/runs/trace.ts'
import { MAX_INVOKE_DEPTH } from '../../../core/runs/wait.ts'
import type { Connection } from '../../connection.ts'

interface RootRow {
  id: string
  workflow: string
  tick_at: number | null
  event: string | null
  account: string | null
}

/** Finds the root of an invoked run: the cause of the run at the top of its invocations. */
export function prepareFindRoot(db: Connection): (runId: string, workflow: string) => Promise<RunRoot> {
  // Index: primary keys of run and event, once for each invocation above the run.
  const top = db.prepare<[string], RootRow>(
    `WITH RECURSIVE above (id, depth) AS (VALUES (?, 0)
       UNION SELECT run.parent_run, above.depth + 1 FROM above JOIN run ON run.id = above.id
       WHERE run.parent_run IS NOT NULL AND above.depth < ${MAX_INVOKE_DEPTH})
     SELECT run.id, run.workflow, run.tick_at, event.id AS event, event.account
     FROM above JOIN run ON run.id = above.id LEFT JOIN event ON event.seq = run.event_seq
     WHERE run.parent_run IS NULL`,
  )
  return async (runId, workflow) => {
    const found = await top.get(runId)
    if (found?.event != null) return { kind: 'event', account: found.account ?? 'default', event: found.event }
    if (found && found.tick_at === null) return { kind: 'start', run: found.id }
    return { kind: 'tick', workflow: found?.workflow ?? workflow, scheduledFor: found?.tick_at ?? 0 }
  }
}
