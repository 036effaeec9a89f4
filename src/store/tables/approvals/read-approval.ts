import type { Approval, ApprovalTerms } from '../../../core/safety/approval.ts'
import type { ApprovalRow, VoteRow } from '../../rows/approvals/approval-rows.ts'

/** The facts beside the row of an approval. */
interface ApprovalFacts {
  /** Effects that are still open; runs with an item of the list. */
  counts: { openItems: number; runs: number } | undefined
  votes: readonly VoteRow[]
  now: number
}

/** An open approval whose time is over is shown as expired. */
export function readApproval(row: ApprovalRow, { counts, votes, now }: ApprovalFacts): Approval {
  const { openItems, runs } = counts ?? { openItems: 0, runs: 0 }
  const isOver = row.status === 'open' && row.expires_at <= now
  return {
    id: row.id,
    kind: row.kind,
    status: isOver ? 'expired' : row.status,
    workflow: row.workflow,
    account: row.account,
    why: row.why,
    items: row.items,
    openItems,
    runs,
    bytes: row.bytes,
    hash: row.hash,
    needs: row.needs,
    role: row.role,
    question: row.question === null ? null : JSON.parse(row.question),
    answer: row.answer,
    openedAt: row.opened_at,
    expiresAt: row.expires_at,
    decidedAt: row.decided_at,
    votes: votes.map(({ isSigned, ...vote }) => ({ ...vote, isSigned: isSigned === 1 })),
  }
}

/** The terms of an approval, which its hash covers beside its list. */
export function readTerms(row: ApprovalRow): ApprovalTerms {
  const { id, kind, workflow, account, why, needs, role, question, expires_at: expiresAt } = row
  return { id, kind, workflow, account, why, needs, role, question: question && JSON.parse(question), expiresAt }
}
