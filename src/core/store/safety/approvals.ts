import type {
  Approval,
  ApprovalItem,
  ApprovalStatus,
  Approver,
  Decision,
  DecisionResult,
} from '../../safety/approval.ts'
import type { VoteReads } from '../../safety/votes/verified-votes.ts'

export interface ApprovalWrites {
  /**
   * Counts a person's word. Approving covers the list up to the named hash; the rest moves to a
   * fresh approval. Throws `conflict` for a list that has no such hash, or is decided.
   */
  decideApproval(decision: Decision, now: number): Promise<DecisionResult>
  /**
   * Carries out some more of a decision about a long list, which {@link decideApproval} has begun.
   * Returns the runs that it woke, or null where no decision is left.
   */
  carryOutDecision(now: number): Promise<number | null>
  /** `conflict` for a name that is taken. */
  addApprover(approver: Approver): Promise<void>
  /** Their later words do not count. False for an unknown name. */
  removeApprover(name: string, now: number): Promise<boolean>
}

/** Selects approvals; every part narrows. */
export interface ApprovalFilter {
  status?: ApprovalStatus
  workflow?: string
  /** Before the approval with this id: the last one of the page before. */
  before?: string
}

export interface ApprovalReads extends Pick<VoteReads, 'listVotes'> {
  /** Newest first. */
  listApprovals(query: ApprovalFilter & { limit: number; now: number }): Promise<Approval[]>
  findApproval(id: string, now: number): Promise<Approval | null>
  /** Ids that begin so, oldest first. */
  listApprovalIds(beginning: string, limit: number): Promise<string[]>
  /** In their order, numbered above `after`. */
  listApprovalItems(query: { approval: string; after?: number; limit: number }): Promise<ApprovalItem[]>
  /** The approval that a question of `step.approve` opened; null while there is none. */
  findQuestion(runId: string, step: string, now: number): Promise<Approval | null>
  /** By name, removed ones included. */
  listApprovers(): Promise<Approver[]>
}
