import { type Failure, UpshotError } from '../errors.ts'

/** What a step does to the outside. Guards, dry runs and the ledger rest on it. */
export type Effect = 'read' | 'write' | 'delete'

/**
 * `completed`, `failed`: finished, never to run again. `waiting`: for a moment (a sleep, the next
 * attempt), an event or a run. `started`: a `once` step whose function has begun and whose end
 * nobody knows yet.
 */
export type StepStatus = 'completed' | 'failed' | 'waiting' | 'started'

/** The verb that made a step. */
export type StepKind = 'run' | 'sleep' | 'wait' | 'send' | 'invoke'

/** A row of a run's journal: what its replay reads back. */
export interface Checkpoint {
  /** Unique in the run. */
  key: string
  /** 0-based: the order in which the run's steps first began. */
  position: number
  kind: StepKind
  effect: Effect
  status: StepStatus
  /** Attempts that counted, up to now. */
  attempt: number
  /** JSON text of the result; null until it is completed, and where the result lies apart. */
  output: string | null
  /** Bytes of the result's JSON where it is not in `output`: `readOutput` gives it. */
  apartBytes?: number
  error: Failure | null
  /** What it acts on, such as `storage_a:fil_1`; null where the step does not say. */
  target: string | null
  startedAt: number
  finishedAt: number | null
  dueAt: number | null
}

/** Results up to this size, in bytes of JSON, lie in their row … */
export const ROW_OUTPUT_BYTES = 65_536
/** … and up to this one compressed in a table of their own. */
export const MAX_OUTPUT_BYTES = 33_554_432

/** The result of a step or run that is too large for its row, as it is stored. */
export interface PackedOutput {
  /** Bytes of its JSON text. */
  bytes: number
  data: Uint8Array
}

/**
 * A name without a key that is used this often in one run stands in a loop, most likely by mistake.
 */
export const REPEATED_NAME_WARNING = 100

/** Text in a name that would make two steps look alike. */
const RESERVED = /[#[\]]/

/** A step's name, or `[name, key]` where one name stands in a loop. */
export type StepName = string | readonly [name: string, key: string | number]

/**
 * Gives each step of one pass through a run its key: `name`, `name#2` for the second of that name,
 * or `name[key]`.
 */
export function stepKeys(): (name: StepName) => string {
  const seen = new Map<string, number>()
  return (name) => {
    const base = typeof name === 'object' && name !== null ? `${requireName(name[0])}[${name[1]}]` : requireName(name)
    const occurrence = (seen.get(base) ?? 0) + 1
    seen.set(base, occurrence)
    return occurrence === 1 ? base : `${base}#${occurrence}`
  }
}

function requireName(name: string): string {
  if (typeof name === 'string' && name !== '' && name.length <= 200 && !RESERVED.test(name)) return name
  throw new UpshotError('invalid_workflow', `"${name}" is no step name: 1 to 200 characters without "#", "[" and "]".`)
}

/**
 * Keys of the failed steps that a retry of their run does again: the one that ended it, and those
 * that the author's code did not go on after. A failure that the code caught stays what it was, or
 * the steps behind its `catch` would hang in the air. Where a step began in the very millisecond of
 * a failure, it counts as caught: one more retry costs less than a repeated step.
 */
export function planReset(steps: readonly Checkpoint[], error: Failure | null): string[] {
  const failed = steps.filter((step) => step.status === 'failed')
  const isLast = ({ position, finishedAt }: Checkpoint) =>
    !steps.some((step) => step.position > position && step.startedAt >= (finishedAt ?? Infinity))
  return failed.filter((step) => step.key === error?.step || isLast(step)).map((step) => step.key)
}

/**
 * What a fork takes over: finished steps that began before `fromStep`. Throws `not_found` that
 * names the steps there are.
 */
export function planFork(steps: readonly Checkpoint[], fromStep: string): string[] {
  const from = steps.find((step) => step.key === fromStep)
  if (!from) {
    const known = steps.map((step) => step.key).slice(0, 20)
    const fix = known.length === 0 ? 'It has no steps yet.' : `Choose one of: ${known.join(', ')}.`
    throw new UpshotError('not_found', `The run has no step "${fromStep}".`, { details: { fix } })
  }
  return steps
    .filter(({ position, status }) => position < from.position && (status === 'completed' || status === 'failed'))
    .map((step) => step.key)
}

/** What a run's code does with its journal, at one step or at its end. */
type Reach =
  | { at: 'step'; known: Pick<Checkpoint, 'key' | 'kind' | 'effect'>; kind: StepKind; effect: Effect }
  /** The code has ended; these steps of earlier passes were never reached. */
  | { at: 'end'; unreached: Iterable<Pick<Checkpoint, 'key' | 'status'>> }

/**
 * Why a run must not go on with this code, or null. A step whose verb is another one cannot give
 * back what it kept, whatever the reason. Under changed code, too, an effect that became another
 * one, and a step that has happened but is not in the code any more, say that the code no longer
 * knows what the run has done.
 */
export function decideMismatch(reach: Reach, isCodeChanged: boolean): string | null {
  const why = isCodeChanged ? 'code changed: ' : ''
  if (reach.at === 'end') {
    if (!isCodeChanged) return null
    for (const { key, status } of reach.unreached) {
      if (status !== 'waiting') return `${why}step "${key}" was ${describeDone(status)} but not reached`
    }
    return null
  }
  const { known, kind, effect } = reach
  if (known.kind !== kind) return `${why}step "${known.key}" was a \`${known.kind}\` and is a \`${kind}\` now`
  if (!isCodeChanged || known.effect === effect) return null
  return `${why}step "${known.key}" had the effect \`${known.effect}\` and has \`${effect}\` now`
}

function describeDone(status: Exclude<StepStatus, 'waiting'>): string {
  return status === 'started' ? 'started' : 'finished'
}
