import type { DecisionResult } from '../../../core/safety/approval.ts'
import { planHold } from '../../../core/safety/guard.ts'
import type { PlannedRun, PlannedWord } from '../../../core/store/safety/approvals.ts'
import type { ApprovalTable } from '../approvals/approval-table.ts'
import type { RunOperations } from '../runs/run-operations.ts'
import type { ApprovalDecisions } from './approval-decisions.ts'

interface PlannedTables {
  approvals: ApprovalTable
  decisions: ApprovalDecisions
  operations: RunOperations
}

/** Starts a run with an approval of what its plan foresaw, and counts a person's word for it. */
export async function startPlanned(
  { approvals, decisions, operations }: PlannedTables,
  planned: PlannedRun,
  word: PlannedWord,
  now: number,
): Promise<DecisionResult> {
  const { event, workflow, run: runId, approval: id, why, items, needs, expiresAt } = planned
  await operations.startPlanned(planned, now)
  if (items.length === 0) return { status: 'approved', granted: 0, moved: 0, next: null, woken: 0, missing: 0 }
  const { account } = event
  const about = { id, kind: 'guard', hold: planHold({ runId, account }), workflow, account, why } as const
  const approval = await approvals.open({ ...about, needs, role: null, question: null, openedAt: now, expiresAt })
  await approvals.join(
    approval,
    items.map((item) => ({ ...item, runId })),
  )
  return decisions.decide({ ...word, approval: id, verdict: 'approved', only: null, answer: null }, now)
}
