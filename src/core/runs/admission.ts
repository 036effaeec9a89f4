import { isoTime } from '../time.ts'
import type { Tags } from './annotations/tags.ts'

/**
 * A limit that a run passes before its code begins. Gates are passed in a fixed order, so runs
 * cannot deadlock. See decision 5.
 */
export interface Gate {
  name: 'singleton' | 'throttle' | 'concurrency-1' | 'concurrency-2'
  /** Empty where the gate has no keys. */
  key: string
  /** Slots of the gate; for a throttle, starts within `perMs`. */
  most: number
  /** Window of a throttle in milliseconds; null for other gates. */
  perMs: number | null
}

/** How a run is folded into another one before it starts. */
export type Fold =
  | { kind: 'batch'; key: string; size: number; waitMs: number }
  | { kind: 'debounce'; key: string; waitMs: number; maxMs: number }

/** The facts by which the store admits a run, in one transaction. */
export interface AdmissionPlan {
  priority: number
  /** True when its code has run before: then only the concurrency gates apply. */
  hasStarted: boolean
  /** Canceled when it has not started by this moment; null: no limit. */
  startBy: number | null
  /** A queued run asks again at this moment at the latest; null: only when a slot is free. */
  wakeAt: number | null
  /** False: once admitted it becomes `pending` and waits for a worker's free slot. */
  mayStart: boolean
  fold: Fold | null
  /** The singleton's rule for another unfinished run. */
  onConflict: 'skip' | 'queue' | 'cancel'
  gates: readonly Gate[]
  /** Written with the decision; absent where its workflow gives none, or its code has begun. */
  tags?: Tags
  /** True for a run that no limit bounds, which is let in for its tags. Default false. */
  isOnlyTagged?: boolean
}

/** The store's decision, already written. */
export type AdmissionVerdict =
  /** It may go on. `folded`: runs that were folded into it. */
  | { kind: 'admitted'; startedAt: number; folded: number }
  /** Admitted and `pending`. */
  | { kind: 'ready' }
  | { kind: 'queued'; dueAt: number | null; reason: string }
  | { kind: 'skipped'; reason: string }
  | { kind: 'canceled'; reason: string }

export interface AdmissionAnswer {
  verdict: AdmissionVerdict
  /** Ids of runs that a singleton canceled for this one. */
  canceled: readonly string[]
}

/** Priorities lie between -100 and 100. */
export const MAX_PRIORITY = 100
/**
 * Limited runs come before all others until they are admitted, so that they queue in order of age.
 */
export const UNADMITTED_PRIORITY = 1_000

/** True for a whole number from -100 to 100. */
export function isPriority(value: unknown): value is number {
  return Number.isInteger(value) && Math.abs(value as number) <= MAX_PRIORITY
}

/** Why a run is in line: the gate, its slots, and the next start where it is known. */
export function describeWait(
  { name, key, most, perMs }: Gate,
  known: { taken: number; nextAt: number | null },
): string {
  const whose = key === '' ? 'runs' : `runs with key ${key}`
  switch (name) {
    case 'singleton':
      return key === ''
        ? 'singleton: another run is unfinished'
        : `singleton: another run with key ${key} is unfinished`
    case 'throttle': {
      const next = known.nextAt === null ? '' : `, next start at ${isoTime(known.nextAt)}`
      return `throttle: ${known.taken} of ${most} ${whose} started within ${describeDuration(perMs ?? 0)}${next}`
    }
    case 'concurrency-1':
    case 'concurrency-2':
      return `concurrency: ${known.taken} of ${most} ${whose} are at work`
    default:
      return name satisfies never
  }
}

/** Why a run waits to be folded: its events so far, its own included, and when it starts. */
export function describeGathering(fold: Fold, { gathered, dueAt }: { gathered: number; dueAt: number }): string {
  const progress =
    fold.kind === 'batch' ? `${gathered} of ${fold.size}` : gathered === 1 ? '1 event' : `${gathered} events`
  return `${fold.kind}: ${progress}, until ${isoTime(dueAt)}`
}

/**
 * When runs that were first folded at `since` start, after another event at `now`. `dueAt`: when a
 * batch starts so far. A clock that was ahead at `since` holds up no event that comes later.
 */
export function computeDue(
  fold: Fold,
  { since, now, dueAt = Infinity }: { since: number; now: number; dueAt?: number },
): number {
  const from = Math.min(since, now)
  return fold.kind === 'batch' ? Math.min(from + fold.waitMs, dueAt) : Math.min(now + fold.waitMs, from + fold.maxMs)
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

function describeDuration(ms: number): string {
  const [unit, unitMs] = UNITS.find(([, size]) => ms >= size && ms % size === 0) ?? ['ms', 1]
  return `${ms / unitMs}${unit}`
}
