import type { Approval, ApprovalItem, ApprovalStatus, ItemState, Verdict } from '../../core/safety/approval.ts'

export interface ApprovalRow {
  id: string
  kind: Approval['kind']
  hold: string
  status: ApprovalStatus
  workflow: string
  account: string
  why: string
  items: number
  bytes: number
  hash: string
  needs: number
  role: string | null
  question: string | null
  answer: string | null
  opened_at: number
  expires_at: number
  decided_at: number | null
}

export interface ItemRow {
  approval: string
  number: number
  run_id: string
  step: string
  target: string | null
  asked: string | null
  bytes: number
  hash: string
  state: ItemState
}

export interface VoteRow {
  actor: string
  verdict: Verdict
  reason: string | null
  hash: string
  answer: string | null
  at: number
  isSigned: number
}

/** The first facts of an approval. */
export interface Opening
  extends Pick<ApprovalRow, 'kind' | 'hold' | 'workflow' | 'account' | 'why' | 'needs' | 'role'> {
  question: string | null
  openedAt: number
  expiresAt: number
}

/** The end of an approval. */
export interface Closing {
  status: ApprovalStatus
  /** The people whose words decided it. Default: nobody. */
  by?: readonly string[]
  reason?: string | null
  /** JSON text of a typed answer. */
  answer?: string | null
}

/** An item with the approval that it belongs to. */
export type FoundItem = ItemRow & Pick<ApprovalRow, 'kind' | 'status' | 'expires_at' | 'why'>

/** An effect that joins the list of an approval. */
export type NewItem = Pick<ApprovalItem, 'runId' | 'step' | 'target' | 'asked'>

/** Number of the question itself in its list; the effects that it is for are counted from 1. */
export const QUESTION = 0
