import type { JsonValue } from '../json.ts'
import type { Checkpoint } from '../runs/step.ts'
import type { Limit } from './guard.ts'

/** The state of a file; null where that is not known. */
export interface FileState {
  /** Absolute path. */
  path: string | null
  bytes: number | null
  /** ISO 8601, as the service sent it. */
  modifiedAt: string | null
}

/** The state that the look of a delete found, right before its request. */
export interface FileBefore extends FileState {
  /** Of the bytes, where the run has read them in this state. */
  sha256: string | null
}

/** The state in which a run saw the thing that it acts on. */
export interface Asked extends FileState {
  /** Of a folder, which goes with everything in it. */
  isFolder?: true
  /** Content of a write, as its author says. */
  input?: JsonValue
}

/** An entry of the service. */
interface Entry extends Omit<FileState, 'bytes'> {
  size: number | null
  type: string
}

/** The state of an entry, as people see it. */
export function askedOf({ path, size, modifiedAt, type }: Entry): Asked {
  return { path, bytes: size, modifiedAt, ...(type === 'folder' && { isFolder: true }) }
}

/** A state, with each part that it does not know taken from another one; null without both. */
export function completeState(state: Asked | null, other: FileState | null): Asked | null {
  if (state === null || other === null) return state ?? other
  const { path, bytes, modifiedAt } = state
  const parts = { path: path ?? other.path, bytes: bytes ?? other.bytes, modifiedAt: modifiedAt ?? other.modifiedAt }
  return { ...state, ...parts }
}

/** True where each part that was seen is also that of the other state. */
export function isSameState(seen: Asked | null, other: FileState | null): boolean {
  return (
    seen === null || JSON.stringify(completeState(toState(seen), other)) === JSON.stringify(other && toState(other))
  )
}

/** A state without anything else that is known of the file. */
export function toState({ path, bytes, modifiedAt }: FileState): FileState {
  return { path, bytes, modifiedAt }
}

/** `delete` begins only with a permit; a `write` asks only where a limit or `once` needs it. */
export type EffectClass = 'delete' | 'write'

export interface EffectAsk {
  /** The row of its step while the effect is under way. */
  step: Checkpoint
  class: EffectClass
  /** Such as `files.delete`, or the name of the author's step. */
  operation: string
  workflow: string
  account: string
  /** Our name of the storage; null where the target is in none. */
  storage: string | null
  asked: Asked | null
  /** True where the run can still look at the file: no person is asked about an unseen one. */
  isUnseen?: boolean
  /** The state that its author requires; null parts are not compared. Default none. */
  expect?: FileState | null
  /** The limits that apply to it, in the order in which they are checked. */
  limits: readonly Limit[]
}

/** The store's answer to an ask. Only `granted` lets the effect begin. */
export type EffectPermit =
  /**
   * `expect`: the state that a person approved; the effect may only happen in that state.
   * `by`: the people who approved it now. `isRepeated`: an earlier attempt may have done it.
   */
  | {
      kind: 'granted'
      approval: string | null
      by: readonly string[] | null
      expect: Asked | null
      isRepeated: boolean
      closed?: ClosedApproval
    }
  /**
   * `until`: when the step asks again by itself. `opened`: this ask opened its approval. `rule`: of
   * the limit that opened it. `isUnseen`: no approval has it before the run has looked at its file.
   */
  | {
      kind: 'held'
      reason: string
      approval: string | null
      until: number | null
      opened: boolean
      rule?: string
      isUnseen?: true
    }
  | { kind: 'stopped'; reason: string }
  | { kind: 'denied'; reason: string; approval: string | null; closed?: ClosedApproval }

/** The permit of an effect that needs nobody's word. */
export const GRANTED: EffectPermit = { kind: 'granted', approval: null, by: null, expect: null, isRepeated: false }

/** The end of an approval, with the answer to the first ask of its list. */
export interface ClosedApproval {
  id: string
  status: 'approved' | 'denied' | 'expired'
}

/** The phase that a row of the effect ledger tells of. `done`: a write, which has one row. */
export type EffectPhase = 'begun' | 'ended' | 'done' | 'decided' | 'switched' | 'noted'

/** A row of the effect ledger. Rows are appended, and never changed. */
export interface EffectRecord {
  seq: number
  /** Epoch milliseconds. */
  at: number
  phase: EffectPhase
  /** The row in which the effect of an `ended` one began. */
  ofSeq: number | null
  class: EffectClass | 'guard'
  operation: string
  account: string | null
  target: string | null
  path: string | null
  bytes: number | null
  workflow: string | null
  runId: string | null
  step: string | null
  eventSeq: number | null
  /** Id of that event; null where none caused it. */
  eventId: string | null
  /** Hash of the code that ran. */
  code: string | null
  approval: string | null
  /** The person, where one acted. */
  actor: string | null
  /** JSON text of {@link Asked}; of a person's word, its list, answer and key. */
  asked: string | null
  /** JSON text of the state that a begun delete requires, by its author or an approval. */
  expect: string | null
  /** JSON text of {@link FileBefore}, of an ended delete; null where it has not looked. */
  before: string | null
  outcome: string | null
  /** How the outcome is known; of a person's word, its signature in Base64. */
  proof: string | null
  error: string | null
  /** JSON text of the row in which a person erased text of this one; null: it has all of it. */
  erased: string | null
}

/** Text that is equal only for states that look the same to a person. */
export function describeAsked(asked: Asked | null): string {
  if (asked === null) return 'null'
  const { path, bytes, modifiedAt, isFolder, input = null } = asked
  return JSON.stringify([path, bytes, modifiedAt, input, ...(isFolder ? ['folder'] : [])])
}

/** The row of a step whose effect may not begin: it waits, and no attempt has begun. */
export function heldStep(step: Checkpoint): Checkpoint {
  const attempt = step.status === 'started' ? step.attempt - 1 : step.attempt
  return { ...step, status: 'waiting', attempt, dueAt: null }
}

/** True for a planned delete that finds its file, or that the code does not wait for. */
export function wouldDelete({ class: kind, outcome }: { class: string; outcome: string | null }): boolean {
  return kind === 'delete' && (outcome === null || outcome === 'deleted')
}
