import type {
  Approval,
  ApprovalItem,
  ApprovalStatus,
  Approver,
  Decision,
  DecisionResult,
} from '../../safety/approval.ts'
import type { VoteReads } from '../../safety/votes/verified-votes.ts'

/** A run that may do what a plan foresaw. */
export interface PlannedRun {
  event: { id: string; account: string }
  workflow: string
  /** Ids of the new run and of its approval. */
  run: string
  approval: string
  /** The list in words, as an approval shows its limit. */
  why: string
  /** Effects in the order of the plan. Without any, the run has no approval. */
  items: readonly Pick<ApprovalItem, 'step' | 'target' | 'asked'>[]
  needs: number
  /** When the approval expires, where more people have to agree; epoch milliseconds. */
  expiresAt: number
}

/** A person's word for the whole list of a plan. */
export type PlannedWord = Pick<Decision, 'actor' | 'reason' | 'hash' | 'signature'>

export interface ApprovalWrites {
  /**
   * Counts a person's word. Approving covers the list up to the named hash; the rest moves to a
   * fresh approval. Throws `conflict` for a list that has no such hash, or is decided.
   */
  decideApproval(decision: Decision, now: number): Promise<DecisionResult>
  /**
   * Carries out more of a word on a long list, of its end, or of effects that ask again.
   * Returns the runs that it woke; null: nothing is left.
   */
  carryOutDecision(now: number): Promise<number | null>
  /**
   * Starts a run of a stored event with an approval of just these effects, by a person's word. Any
   * other delete or write of the run is held. Throws as {@link decideApproval}.
   */
  startPlanned(planned: PlannedRun, word: PlannedWord, now: number): Promise<DecisionResult>
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
