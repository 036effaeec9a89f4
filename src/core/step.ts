import { type Failure, UpshotError } from './errors.ts'

/** What a step does to the outside. Guards, dry runs and the ledger rest on it. */
export type Effect = 'read' | 'write' | 'delete'

/**
 * `completed`, `failed`: finished, never to run again. `waiting`: due at a moment, either a sleep or the next attempt.
 */
export type StepStatus = 'completed' | 'failed' | 'waiting'

/** A row of a run's journal: what its replay reads back. */
export interface Checkpoint {
  /** Unique in the run. */
  key: string
  /** 0-based: the order in which the run's steps first began. */
  position: number
  effect: Effect
  status: StepStatus
  /** Attempts that counted, up to now. */
  attempt: number
  /** JSON text of the result; null until it is completed. */
  output: string | null
  error: Failure | null
  /** What it acts on, such as `storage_a:fil_1`; null where the step does not say. */
  target: string | null
  startedAt: number
  finishedAt: number | null
  dueAt: number | null
}

/** Results up to this size lie in the row. */
export const MOST_OUTPUT_BYTES = 1_048_576

/** Text in a name that would make two steps look alike. */
const RESERVED = /[#[\]]/

/** A step's name, or `[name, key]` where one name stands in a loop. */
export type StepName = string | readonly [name: string, key: string | number]

/** Gives each step of one pass through a run its key: `name`, `name#2` for the second of that name, or `name[key]`. */
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
 * Keys of the failed steps that a retry of their run does again: the one that ended it, and those that the author's code
 * did not go on after. A failure that the code caught stays what it was, or the steps behind its `catch` would hang in the air.
 */
export function planReset(steps: readonly Checkpoint[], error: Failure | null): string[] {
  const failed = steps.filter((step) => step.status === 'failed')
  const isLast = ({ position, finishedAt }: Checkpoint) =>
    !steps.some((step) => step.position > position && step.startedAt >= (finishedAt ?? Infinity))
  return failed.filter((step) => step.key === error?.step || isLast(step)).map((step) => step.key)
}

/** What a fork takes over: finished steps that began before `fromStep`. Throws `not_found` that names the steps there are. */
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
