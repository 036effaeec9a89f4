import type { ClaimedRun, RunCause } from '../../../core/runs/claim.ts'
import type { RunHandler, RunOrigin } from '../../../core/runs/run.ts'

/** A row of a run with the columns that its code needs, in either store. */
export interface ClaimRow {
  id: string
  workflow: string
  event_seq: number | null
  tick_at: number | null
  schedule: string | null
  input: string | null
  account: string | null
  parent_run: string | null
  depth: number
  code_hash: string | null
  fence: number
  attempt: number
  created_at: number
  started_at: number | null
  gate_state: string | null
  folded: number | null
  origin: RunOrigin
  handler: RunHandler
  origin_run: string | null
  failure: string | null
  received: string | null
  has_steps: boolean | number
  /** As JSON; null also in the first claim of a run that was made from no other. */
  tags: string | null
  ends_by: number | null
  /** See `Lease`; absent in a store without failover. */
  era?: string
}

/** The columns of a {@link ClaimRow}, of `run` and `work`, or of `full_run AS run`. */
export const claimColumns = ({ tagsOf }: { tagsOf(run: string): string }) =>
  'run.id, run.workflow, event_seq, run.tick_at, run.schedule, input, account, parent_run, depth, code_hash, fence, ' +
  'attempt, created_at, started_at, origin, handler, origin_run, failure, gate_state, folded, received, ends_by, ' +
  '(fence > 1 AND EXISTS (SELECT 1 FROM step WHERE step.run_id = run.id)) AS has_steps, ' +
  `CASE WHEN fence > 1 OR origin_run IS NOT NULL THEN ${tagsOf('run.id')} END AS tags`

/** A claimed run. `now`: the start of a run that has none. */
export function readClaim(
  row: ClaimRow,
  cause: RunCause,
  { worker, now }: { worker: string; now: number },
): ClaimedRun {
  return {
    lease: { runId: row.id, fence: row.fence, worker, ...(row.era === undefined ? {} : { era: row.era }) },
    workflow: row.workflow,
    attempt: row.attempt,
    createdAt: row.created_at,
    startedAt: row.started_at ?? now,
    isFirstPass: !row.has_steps,
    isAdmitted: row.gate_state === 'admitted',
    folded: row.folded ?? 0,
    depth: row.depth,
    codeHash: row.code_hash,
    cause,
    origin: row.origin,
    handler: row.handler,
    originRun: row.origin_run,
    failure: row.failure === null ? null : JSON.parse(row.failure),
    ...(row.tags === null || row.tags === '{}' ? {} : { tags: JSON.parse(row.tags) }),
    ...(row.ends_by === null ? {} : { endsBy: row.ends_by }),
    ...(row.received === null ? {} : { received: JSON.parse(row.received) }),
  }
}
