import { isoTime } from '../time.ts'

/**
 * Something that a run has to pass before it starts. Places are taken in the order of the gates, so
 * nobody blocks anybody for ever.
 */
export interface Gate {
  name: 'singleton' | 'throttle' | 'concurrency-1' | 'concurrency-2'
  /** Empty where the gate has no keys. */
  key: string
  most: number
  /** Of a throttle. */
  perMs: number | null
}

/** How a run joins others before it starts. */
export type Fold =
  | { kind: 'batch'; key: string; size: number; waitMs: number }
  | { kind: 'debounce'; key: string; waitMs: number; maxMs: number }

/** What the store is to decide in one transaction about a run that a worker has in hand. */
export interface AdmissionPlan {
  priority: number
  /** True when its code has run before: then only what counts runs at work applies. */
  hasStarted: boolean
  /** Started later than this it is canceled; null: never. */
  startBy: number | null
  /**
   * A run that waits in line is looked at again at this moment at the latest; null: only when its
   * turn comes.
   */
  wakeAt: number | null
  /** False: when it is let in it becomes `pending`, for the next free slot of a worker. */
  mayStart: boolean
  fold: Fold | null
  /** What a singleton does about another run. */
  onConflict: 'skip' | 'queue' | 'cancel'
  gates: readonly Gate[]
}

/** What the store decided; it is written already. */
export type AdmissionVerdict =
  /** Go on. `folded`: how many runs it has absorbed. */
  | { kind: 'admitted'; startedAt: number; folded: number }
  /** Let in, and `pending`. */
  | { kind: 'ready' }
  | { kind: 'queued'; dueAt: number | null; reason: string }
  | { kind: 'skipped'; reason: string }
  | { kind: 'canceled'; reason: string }

export interface AdmissionAnswer {
  verdict: AdmissionVerdict
  /** Runs that a singleton canceled for this one. */
  canceled: readonly string[]
}

export const MAX_PRIORITY = 100
/**
 * A limited run comes before all others until it has been looked at, so that it is in its right
 * place in time.
 */
export const UNADMITTED_PRIORITY = 1_000

/** Whether a value is a priority that runs can have. */
export function isPriority(value: unknown): value is number {
  return Number.isInteger(value) && Math.abs(value as number) <= MAX_PRIORITY
}

/** Why a run stands in line: who is before it, as far as that is known. */
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

/** Why a run gathers others: how many events it has, its own included. */
export function describeGathering(fold: Fold, { gathered, dueAt }: { gathered: number; dueAt: number }): string {
  const progress =
    fold.kind === 'batch' ? `${gathered} of ${fold.size}` : gathered === 1 ? '1 event' : `${gathered} events`
  return `${fold.kind}: ${progress}, until ${isoTime(dueAt)}`
}

/** When a gathering that was opened at `since` is due, after an event at `now`. */
export function computeDue(fold: Fold, { since, now }: { since: number; now: number }): number {
  return fold.kind === 'batch' ? since + fold.waitMs : Math.min(now + fold.waitMs, since + fold.maxMs)
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
