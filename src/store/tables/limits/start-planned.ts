import type { Decision, DecisionResult } from '../../../core/safety/approval.ts'
import { planHold } from '../../../core/safety/guard.ts'
import type { PlannedRun } from '../../../core/store/planned-run.ts'
import type { ApprovalTable } from '../approvals/approval-table.ts'
import type { ReplayTable } from '../runs/replay-table.ts'
import type { ApprovalDecisions } from './approval-decisions.ts'

/** A person's word for the whole list of a plan. */
type PlannedWord = Pick<Decision, 'actor' | 'reason' | 'hash' | 'signature'>

interface PlannedTables {
  approvals: ApprovalTable
  decisions: ApprovalDecisions
  replays: ReplayTable
}

/**
 * Starts a run of a stored event with an approval of just these effects, by a person's word. Any
 * other delete or write of the run is held. Throws as `decideApproval`.
 */
export async function startPlanned(
  { approvals, decisions, replays }: PlannedTables,
  planned: PlannedRun,
  word: PlannedWord,
  now: number,
): Promise<DecisionResult> {
  const { event, workflow, run: runId, approval: id, why, items, needs, expiresAt } = planned
  await replays.startPlanned(planned, now)
  if (items.length === 0) return { status: 'approved', granted: 0, moved: 0, next: null, woken: 0, missing: 0 }
  const { account } = event
  const about = { id, kind: 'guard', hold: planHold({ runId, account }), workflow, account, why } as const
  const approval = await approvals.open({ ...about, needs, role: null, question: null, openedAt: now, expiresAt })
  await approvals.join(
    approval,
    items.map((item) => ({ ...item, runId })),
  )
  return decisions.decideApproval({ ...word, approval: id, verdict: 'approved', only: null, answer: null }, now)
}
