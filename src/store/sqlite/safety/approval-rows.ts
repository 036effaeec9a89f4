import type { Approval, ApprovalStatus, ItemState, Verdict } from '../../../core/safety/approval.ts'

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
  at: number
  isSigned: number
}
