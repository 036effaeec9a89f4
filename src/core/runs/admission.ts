import { z } from 'zod'
import { type Duration, isoTime, parseDuration } from '../time.ts'

/** At most so many runs at work at the same time. */
export interface ConcurrencyOptions<Cause> {
  limit: number
  /** Counts per key instead of over the whole workflow. */
  key?: (cause: Cause) => string
}

/** At most so many first starts in any stretch of time this long. The others wait; none is dropped. */
export interface ThrottleOptions<Cause> {
  limit: number
  per: Duration
  key?: (cause: Cause) => string
}

/** At most one unfinished run; a run that sleeps or waits for a person is unfinished, too. */
export interface SingletonOptions<Cause> {
  key?: (cause: Cause) => string
  /**
   * What becomes of a new run: `skip` (default): it is skipped, and its reason names the one at work; `queue`: it waits;
   * `cancel`: the older one is canceled.
   */
  onConflict?: 'skip' | 'queue' | 'cancel'
}

/** Gathers events into one run, which starts with `size` of them or `wait` after the first. */
export interface BatchOptions<Cause> {
  /** 1 to 10,000. */
  size: number
  wait: Duration
  key?: (cause: Cause) => string
}

/** One run for events in quick succession: it starts when none has come for `wait`, or `max` after the first. */
export interface DebounceOptions<Cause> {
  wait: Duration
  /** Default: as long as it takes. */
  max?: Duration
  key?: (cause: Cause) => string
}

export interface TimeoutOptions {
  /** A run that has not started so long after it was made is canceled. */
  start?: Duration
  /** For one attempt of a step; default 5m. */
  step?: Duration
  /** From the run's first start, sleeps included: `signal` aborts and the run fails. */
  run?: Duration
}

/**
 * What limits and orders the runs of a workflow. Keys are pure functions of the event, tick or input that
 * caused the run. They are called when a
 * run is admitted, never while its delivery waits for an answer; one that throws, or gives no text, parks the run for a person.
 */
export interface FlowOptions<Cause> {
  /**
   * Counts runs that are executing. One that sleeps, waits for an event, for its next attempt or for a person gives its
   * slot to the next one, and stands in line again, by its age, when it goes on. With two limits a run needs a slot of both.
   */
  concurrency?:
    | ConcurrencyOptions<Cause>
    | readonly [first: ConcurrencyOptions<Cause>, second: ConcurrencyOptions<Cause>]
  throttle?: ThrottleOptions<Cause>
  /** From -100 to 100, a whole number; higher first, default 0. Orders runs that wait for a worker or in line at a limit. */
  priority?: number | ((cause: Cause) => number)
  /** `true`: one unfinished run of the whole workflow, and new ones are skipped. */
  singleton?: true | SingletonOptions<Cause>
}

/** The same of any workflow, as the engine sees it. */
export interface AnyFlow extends FlowOptions<never> {
  batch?: BatchOptions<never> | undefined
  debounce?: DebounceOptions<never> | undefined
}

/** Something that a run has to pass before it starts. Places are taken in the order of the gates, so nobody blocks anybody for ever. */
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
  /** A run that waits in line is looked at again at this moment at the latest; null: only when its turn comes. */
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

export const MOST_PRIORITY = 100
/** A limited run comes before all others until it has been looked at, so that it is in its right place in time. */
export const UNSEEN_PRIORITY = 1_000

/** Whether the runs of a workflow have to be admitted by the store. */
export function isGated(flow: AnyFlow & { timeout?: TimeoutOptions }): boolean {
  const { concurrency, throttle, singleton, batch, debounce, priority, timeout } = flow
  const limits = [concurrency, throttle, singleton, batch, debounce, timeout?.start]
  return typeof priority === 'function' || limits.some((limit) => limit !== undefined)
}

/** The priority of a run that has not been looked at yet. */
export function planFirstPriority(flow: AnyFlow & { timeout?: TimeoutOptions }): number {
  if (isGated(flow)) return UNSEEN_PRIORITY
  return typeof flow.priority === 'number' ? flow.priority : 0
}

/** Whether a value is a priority that runs can have. */
export function isPriority(value: unknown): value is number {
  return Number.isInteger(value) && Math.abs(value as number) <= MOST_PRIORITY
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

/** A length of time as an author writes it, in milliseconds. */
export const duration = z.union([z.number(), z.string()]).transform((text, context) => {
  try {
    return parseDuration(text)
  } catch {
    context.addIssue('must be a duration such as "30s" or "5m"')
    return z.NEVER
  }
})
const longerThanNothing = duration.refine((ms) => ms > 0, 'must be longer than nothing')
const key = z.custom<(cause: never) => string>((value) => typeof value === 'function', 'must be a function').optional()
const limit = z.int().min(1)
const concurrency = z.strictObject({ limit, key })

/** Checks of the options, for the definition of a workflow. */
export const flowOptions = {
  concurrency: z.union([concurrency, z.tuple([concurrency, concurrency])]).optional(),
  throttle: z.strictObject({ limit, per: longerThanNothing, key }).optional(),
  priority: z
    .custom<number>(
      (value) => typeof value === 'function' || isPriority(value),
      `must be a whole number from -${MOST_PRIORITY} to ${MOST_PRIORITY}, or a function`,
    )
    .optional(),
  singleton: z
    .union([z.literal(true), z.strictObject({ key, onConflict: z.enum(['skip', 'queue', 'cancel']).optional() })])
    .optional(),
  batch: z.strictObject({ size: z.int().min(1).max(10_000), wait: longerThanNothing, key }).optional(),
  debounce: z.strictObject({ wait: longerThanNothing, max: longerThanNothing.optional(), key }).optional(),
  timeout: z
    .strictObject({
      start: longerThanNothing.optional(),
      step: duration.optional(),
      run: longerThanNothing.optional(),
    })
    .optional(),
}

/** Refuses options that contradict each other. */
export function refuseContradictions(
  { on, batch, debounce, cancelOn }: { on: unknown; batch?: unknown; debounce?: unknown; cancelOn?: unknown },
  context: z.RefinementCtx,
): void {
  const refuse = (option: string, message: string) => context.addIssue({ code: 'custom', path: [option], message })
  const kind = typeof on === 'object' && on !== null && 'kind' in on ? on.kind : 'event'
  if (kind !== 'event' && batch) refuse('batch', 'only a workflow that runs on events can gather them')
  if (kind !== 'event' && debounce) refuse('debounce', 'only a workflow that runs on events can gather them')
  if (batch && debounce) refuse('debounce', 'goes not together with `batch`')
  if (batch && cancelOn)
    refuse('cancelOn', 'goes not together with `batch`: nobody could say which of its events counts')
}
