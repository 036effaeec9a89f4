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
