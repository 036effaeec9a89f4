import type { Approval, ApprovalItem, ApprovalStatus, ItemState, Verdict } from '../../../core/safety/approval.ts'

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
  carrying: string | null
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
  /** The run's fence when it asked. */
  fence: number
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
  /** Default: a new one. */
  id?: string
}

/** How far a decision about a long list is carried out. */
export interface Carrying {
  /** Numbers of the items that were approved; null where none was. */
  granted: readonly { from: number; to: number }[] | null
  /** Number of the last item that is told. */
  after: number
}

/** Items of a decision, or runs, that one commit carries out. See decision 81. */
export const MAX_CARRIED = 250

/** SQL: an item's run has not ended or begun anew since it asked. See decision 82. */
export const IS_ASKED_FOR = `NOT EXISTS (SELECT 1 FROM withdrawal
  WHERE withdrawal.run_id = approval_item.run_id AND withdrawal.fence >= approval_item.fence)`

/** SQL: a wait is over. That of a held effect also is once the effect asks again. */
export const IS_OVER = `(wait.is_resolved = 1 OR wait.round < (SELECT asking_again.round FROM asking_again
  WHERE what = CASE wait.approval WHEN 'stop' THEN 'stop' ELSE 'guard' END))`

/** The end of an approval. */
export interface Closing {
  status: ApprovalStatus
  /** Numbers of the items that were approved. Default: none. */
  granted?: Carrying['granted']
  /** The people whose words decided it. Default: nobody. */
  by?: readonly string[]
  reason?: string | null
  /** JSON text of a typed answer. */
  answer?: string | null
}

/** An item with the approval that it belongs to. */
export type FoundItem = ItemRow & Pick<ApprovalRow, 'kind' | 'status' | 'expires_at' | 'why' | 'carrying'>

/** An item's state, also where the decision about its list is not carried out that far. */
export function stateOf({ state, status, number, carrying }: FoundItem): ItemState {
  if (state !== 'open' || status === 'open' || carrying === null) return state
  if (status !== 'approved') return status
  return isGranted(JSON.parse(carrying), number) ? 'approved' : 'open'
}

export function isGranted({ granted }: Pick<Carrying, 'granted'>, number: number): boolean {
  return granted?.some(({ from, to }) => number >= from && number <= to) ?? false
}

/** An effect that joins the list of an approval. */
export interface NewItem extends Pick<ApprovalItem, 'runId' | 'step' | 'target' | 'asked'> {
  /** For an item that moves. Default: that of the run. */
  fence?: number
}
