import { hash } from 'node:crypto'
import { UpshotError } from '../errors.ts'
import { newId } from '../ids.ts'
import type { JsonValue } from '../json.ts'
import type { SentEvent } from '../runs/wait.ts'
import { isoTime } from '../time.ts'
import { type Asked, describeAsked } from './effect.ts'

/** `withdrawn`: the runs that asked have ended, or asked for something else. */
export const APPROVAL_STATUSES = ['open', 'approved', 'denied', 'expired', 'withdrawn'] as const
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number]

/** `moved`: to a later approval, because it was not in the list that a person approved. */
export type ItemState = ApprovalStatus | 'moved'

/** A list of effects, or a question, that people decide. */
export interface Approval {
  /** `apr_…` */
  id: string
  /**
   * `guard`: effects over a limit. `question`: of `step.approve`. `repair`: events to be made up.
   */
  kind: 'guard' | 'question' | 'repair'
  status: ApprovalStatus
  workflow: string
  account: string
  /** The limit or the question, in words. */
  why: string
  /** Effects in the list, withdrawn ones included. */
  items: number
  /** Effects in the list that are still asked for. */
  openItems: number
  runs: number
  bytes: number
  /** Hash of the whole list, 64 hexadecimal digits. */
  hash: string
  /** Distinct people who have to agree. */
  needs: number
  /** Role that they must have; null: any. */
  role: string | null
  question: ApprovalQuestion | null
  /** JSON text of a typed answer; null for none. */
  answer: string | null
  openedAt: number
  /** Decided as `expired` from then on; epoch milliseconds. */
  expiresAt: number
  decidedAt: number | null
  votes: readonly ApprovalVote[]
}

/** The question of `step.approve`. */
interface ApprovalQuestion {
  runId: string
  step: string
  /** Shown to the person who decides; part of the hash. */
  show: JsonValue
  /** JSON Schema of the answer; null where none is asked for. */
  answer: JsonValue
}

/** An effect in the list of an approval. */
export interface ApprovalItem {
  /** Counted from 1. */
  number: number
  runId: string
  step: string
  target: string | null
  asked: Asked | null
  /** Covers this item and all before it. */
  hash: string
  state: ItemState
}

export type Verdict = 'approved' | 'denied'

interface ApprovalVote {
  actor: string
  verdict: Verdict
  reason: string | null
  /** The list that it is about. */
  hash: string
  /** JSON text of a typed answer; null for none. */
  answer: string | null
  at: number
  /** True where a registered key signed it. */
  isSigned: boolean
}

/** A person's decision, before it is counted. */
export interface Decision {
  approval: string
  verdict: Verdict
  actor: string
  reason: string | null
  /** At least 8 digits of an item's hash: approves the items up to that one. */
  hash: string
  /** The numbers among them to approve; null: all. */
  only: readonly { from: number; to: number }[] | null
  /** JSON text of a typed answer. */
  answer: string | null
  /** Ed25519 over {@link describeVote} with the whole hash; null where nobody is registered. */
  signature: Uint8Array | null
}

/** The result of a decision. `open`: it needs the word of another person. */
export interface DecisionResult {
  status: ApprovalStatus
  /** Effects that may begin now. */
  granted: number
  /** Effects that joined later or were left out, with the approval that holds them now. */
  moved: number
  next: string | null
  /** Runs that were woken. */
  woken: number
  /** People who still have to agree. */
  missing: number
}

/** A person who may decide, known by a key. */
export interface Approver {
  name: string
  /** Ed25519 public key in PEM. */
  publicKey: string
  roles: readonly string[]
  addedAt: number
  removedAt: number | null
}

/** Number of the question itself in its list; the effects that it is for are counted from 1. */
export const QUESTION = 0

/** Effects that one person approves ahead of their lists. */
export const MAX_AHEAD = 200

/** Digits of a hash that name an item. */
export const MIN_HASH_DIGITS = 8

/** The part of an approval that its hash covers beside the list. */
export type ApprovalTerms = Pick<
  Approval,
  'id' | 'kind' | 'workflow' | 'account' | 'why' | 'needs' | 'role' | 'question' | 'expiresAt'
>

/** The hash before the first item, over the terms. */
export function seedHash(terms: ApprovalTerms): string {
  const { id, kind, workflow, account, why, needs, role, question, expiresAt } = terms
  return hash('sha256', JSON.stringify([id, kind, workflow, account, why, needs, role, question, expiresAt]))
}

/** The hash of an item, over the one before it and everything that a person approves. */
export function chainHash(
  before: string,
  { runId, step, target, asked }: Pick<ApprovalItem, 'runId' | 'step' | 'target' | 'asked'>,
): string {
  return hash('sha256', JSON.stringify([before, runId, step, target, describeAsked(asked)]))
}

/** The text that a vote signs: the whole hash, because a few digits of one can be forged. */
export function describeVote({ approval, actor, hash: list, verdict, reason, only, answer }: Decision): string {
  return JSON.stringify(['upshot approval 1', approval, actor, list, verdict, reason, only, answer])
}

/** Reads `1-40,45`. Throws `invalid_request`. */
export function parseNumbers(text: string): { from: number; to: number }[] {
  return text.split(',').map((part) => {
    const [, first = '', last = first] = /^ *(\d{1,9})(?:-(\d{1,9}))? *$/.exec(part) ?? []
    const [from, to] = [Number(first), Number(last)]
    if (first !== '' && from >= 1 && to >= from) return { from, to }
    throw new UpshotError('invalid_request', `"${part}" names no items. Write numbers such as 1-40,45.`)
  })
}

/** Types of the events that tell of approvals. Both are in the commit that they tell of. */
const APPROVAL_EVENTS = { opened: 'upshot.approval.opened', closed: 'upshot.approval.closed' } as const

type Facts = Pick<Approval, 'id' | 'kind' | 'workflow' | 'account' | 'why' | 'needs' | 'role' | 'expiresAt'>

/** The facts that only the end of an approval has. */
interface ApprovalEnd extends Pick<Approval, 'status' | 'items'> {
  /** The people whose words decided it. */
  by: readonly string[]
  reason: string | null
}

/** The event of an approval that opens, or that ends with `end`. */
export function planApprovalEvent(
  { id: approval, expiresAt, ...facts }: Facts,
  now: number,
  end: ApprovalEnd | null,
): Omit<SentEvent, 'workflows'> {
  const id = newId('evt', now)
  const type = end === null ? APPROVAL_EVENTS.opened : APPROVAL_EVENTS.closed
  const data = { approval, ...facts, expiresAt: isoTime(expiresAt), ...end }
  const body = JSON.stringify({ id, type, created: isoTime(now), data })
  return { id, type, account: facts.account, createdAt: now, body }
}
