import { hash } from 'node:crypto'
import { type Failure, UpshotError } from '../errors.ts'

/**
 * The effect of a step on the outside world.
 *
 * A `write` or `delete` begins only after everything before it is on disk. A `read` may begin
 * sooner, because reading twice does no harm.
 */
export type Effect = 'read' | 'write' | 'delete'

/** Outcomes of a delete that prove that the service deleted nothing for us. */
export const LEFT_ALONE: readonly string[] = ['not_found', 'changed', 'dry_run']

/**
 * `completed` and `failed` are final. `waiting`: for a moment, an event or a run; `started`: a
 * `once` step whose end is not known.
 */
export type StepStatus = 'completed' | 'failed' | 'waiting' | 'started'

export const STEP_KINDS = [
  'run',
  'sleep',
  'wait',
  'receive',
  'send',
  'invoke',
  'approve',
  'hook',
  'schedule',
  'patch',
] as const
export type StepKind = (typeof STEP_KINDS)[number]

/**
 * A row of a run's journal: the state of one step, which replays read back. Times are epoch
 * milliseconds.
 */
export interface Checkpoint {
  /** Unique within the run. */
  key: string
  /** Counted from 0 in the order in which the run's steps first began. */
  position: number
  kind: StepKind
  effect: Effect
  status: StepStatus
  /** Attempts that counted, so far. */
  attempt: number
  /** JSON text of the result; null until it is completed, and while `apartBytes` is set. */
  output: string | null
  /** Bytes of a result that is stored apart; `readOutput` reads it. */
  apartBytes?: number
  error: Failure | null
  /** The target of its effect, such as `storage_a:fil_1`; null where the step names none. */
  target: string | null
  startedAt: number
  finishedAt: number | null
  dueAt: number | null
  /**
   * Number of its outcome, from 1 on in the order in which the code got them. Absent where it is
   * `position + 1`; 0: it has no place in that order, and comes whenever the code asks.
   */
  settled?: number | undefined
}

/** True where the code has had a step's outcome, even if it has to be made again. */
export function hasOutcome(step: Checkpoint | undefined): boolean {
  return step !== undefined && (step.settled !== undefined || isFinished(step))
}

export function isFinished({ status }: Pick<Checkpoint, 'status'>): boolean {
  return status === 'completed' || status === 'failed'
}

/** The number of a step's outcome; 0 where it has none. */
export function numberOf(step: Pick<Checkpoint, 'status' | 'position' | 'settled'>): number {
  return step.settled ?? (isFinished(step) ? step.position + 1 : 0)
}

/** Largest result, in bytes of JSON, that its row holds. */
export const ROW_OUTPUT_BYTES = 65_536
/** Largest result, in bytes of JSON; between the two it is compressed in a table of its own. */
export const MAX_OUTPUT_BYTES = 33_554_432

/** A compressed result that is too large for its row. */
export interface PackedOutput {
  /** Bytes of its JSON text before compression. */
  bytes: number
  data: Uint8Array
}

/** Uses of one name without a key, in one run, after which we warn: it is most likely a loop. */
export const REPEATED_NAME_WARNING = 100

/** Most steps of a run, unless its project or workflow says otherwise: most loops never end. */
export const DEFAULT_MAX_STEPS = 100_000
/** Most that either may say. */
export const MAX_STEPS = 10_000_000

/** Why a database would change a text, so that two keys become one; null: it keeps it as it is. */
export function findTextFault(text: string): string | null {
  if (!text.isWellFormed()) return 'holds half of a character (a lone surrogate), so it is no well-formed Unicode'
  return text.includes('\0') ? 'holds the character 0, which PostgreSQL cannot keep' : null
}

/** The text as both databases keep it: hashes and comparisons have to be of the stored text. */
export function toStorable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\u{fffd}')
}

/**
 * The text, or its hash where it is longer than so many characters. An entry of an index takes
 * 2,704 bytes in PostgreSQL, and a character has up to 3.
 */
export function shorten(text: string, most: number): string {
  return text.length <= most ? text : `sha256:${hash('sha256', text, 'hex')}`
}

/** Characters of a key that stands as it is in that of its step. */
const MAX_KEY = 500

/** Characters that would make two keys look alike. */
const RESERVED = /[#[\]]/

/**
 * Identity of a step within its run: a name, or `[name, key]` in a loop.
 *
 * A name has 1 to 200 characters without `#`, `[` and `]`; any other throws `invalid_workflow`. So
 * does a lone surrogate, or the character 0, in a name or key. A key of more than 500 characters is
 * stored as its hash.
 *
 * A name that is used again gets a number, `name#2`, so its steps are told apart by their order.
 */
export type StepName = string | readonly [name: string, key: string | number]

/**
 * Names the steps of one pass: `name`, `name#2` for its second use, or `name[key]`. The result
 * keeps the counts.
 */
export function stepKeys(): (name: StepName) => string {
  const seen = new Set<string>()
  const repeated = new Map<string, number>()
  return (name) => {
    const isKeyed = typeof name === 'object' && name !== null
    const key = isKeyed ? `[${shorten(requireStorable(`${name[1]}`), MAX_KEY)}]` : ''
    const base = `${requireStorable(requireName(isKeyed ? name[0] : name))}${key}`
    const { size } = seen
    if (seen.add(base).size > size) return base
    const occurrence = (repeated.get(base) ?? 1) + 1
    repeated.set(base, occurrence)
    return `${base}#${occurrence}`
  }
}

function requireStorable(text: string): string {
  const fault = findTextFault(text)
  if (fault === null) return text
  throw new UpshotError('invalid_workflow', `The step "${text}" ${fault}.`)
}

/** The name in a step's key: `name` of `name[key]` and of `name#2`. */
export function stepNameOf(key: string): string {
  return key.replace(/[[#].*$/s, '')
}

/** The key of the first step of a name and key: `name[key]` of `name[key]#2`. */
export function firstKeyOf(key: string): string {
  return key.replace(/\]#\d+$/, ']')
}

function requireName(name: string): string {
  if (typeof name === 'string' && name !== '' && name.length <= 200 && !RESERVED.test(name)) return name
  throw new UpshotError(
    'invalid_workflow',
    `"${name}" is not a step name: use 1 to 200 characters but "#", "[" and "]".`,
  )
}

/** True where a `once` step was cut off. */
export function isInterrupted({ kind, error }: Pick<Checkpoint, 'kind' | 'error'>): boolean {
  return kind === 'run' && error?.name === 'Interrupted' && error.code === 'interrupted'
}

/**
 * Keys of the failed steps that a retry repeats: the one that ended the run, and the last ones
 * begun. Failures that the code caught stay, or the steps after them would lose their reason. A
 * `once` step that had begun never begins again in its run.
 */
export function planReset(steps: readonly Checkpoint[], error: Failure | null): string[] {
  const failed = steps.filter((step) => step.status === 'failed' && !step.error?.once)
  // A step begun in the same millisecond counts as later: another retry costs less than a repeated
  // step.
  const isLast = ({ position, finishedAt }: Checkpoint) =>
    !steps.some((step) => step.position > position && step.startedAt >= (finishedAt ?? Infinity))
  return failed.filter((step) => step.key === error?.step || isLast(step)).map((step) => step.key)
}

/** The part of a run that a new one takes over. */
export interface Fork {
  /** Keys of steps to copy, which are finished, or `once` steps that have begun. */
  keys: readonly string[]
  /** A step with a result given by hand, as JSON text; null: none. */
  edited: { key: string; output: string } | null
}

/**
 * Keys of the finished steps that began before `fromStep`, and of `once` steps that began then,
 * finished or not. Throws `not_found` with up to 20 known steps as the fix.
 */
export function planFork(
  steps: readonly Pick<Checkpoint, 'key' | 'position' | 'status'>[],
  fromStep: string,
): string[] {
  const from = steps.find((step) => step.key === fromStep)
  if (!from) {
    const known = steps.map((step) => step.key).slice(0, 20)
    const fix = known.length === 0 ? 'It has no steps yet.' : `Choose one of: ${known.join(', ')}.`
    throw new UpshotError('not_found', `The run has no step "${fromStep}".`, { details: { fix } })
  }
  return steps.filter((step) => step.position < from.position && step.status !== 'waiting').map((step) => step.key)
}

/** The point at which code and journal are compared: a step, or the end of the run. */
type Reach =
  | { at: 'step'; known: Pick<Checkpoint, 'key' | 'kind' | 'effect'>; kind: StepKind; effect: Effect }
  /** The code came to rest before it reached `expected`, a step of an earlier pass. */
  | { at: 'rest'; expected: Pick<Checkpoint, 'key' | 'kind'>; came: StepCall | null }
  /** The code has ended without reaching these steps of earlier passes. */
  | { at: 'end'; unreached: Iterable<Pick<Checkpoint, 'key' | 'kind' | 'status' | 'position' | 'settled'>> }

export interface StepCall {
  key: string
  kind: StepKind
  /** File, line and column of the call, where known. */
  place: string | null
}

/** Every reason of a run whose code contradicts its journal begins so. */
export const DIVERGED = 'diverged: '

/**
 * Why a run must not go on with this code; null when it may. Each step must keep its verb and its
 * effect, and the code must reach every recorded outcome. See decision 33.
 */
export function decideMismatch(reach: Reach, isCodeChanged: boolean): string | null {
  const why = describeMismatch(reach, isCodeChanged)
  return why === null ? null : `${DIVERGED}${isCodeChanged ? 'code changed: ' : ''}${why}`
}

function describeMismatch(reach: Reach, isCodeChanged: boolean): string | null {
  switch (reach.at) {
    case 'end':
      for (const step of reach.unreached) {
        const { key, kind, status } = step
        if (kind !== 'patch' && status !== 'waiting' && (isCodeChanged || numberOf(step) > 0))
          return `step "${key}" was ${describeDone(status)} but not reached`
      }
      return null
    case 'rest':
      return `step "${reach.expected.key}" (${reach.expected.kind}) was expected, and ${describeCall(reach.came)}`
    case 'step': {
      const { known, kind, effect } = reach
      if (known.kind !== kind) return `step "${known.key}" was a \`${known.kind}\` and is a \`${kind}\` now`
      if (known.effect === effect) return null
      return `step "${known.key}" had the effect \`${known.effect}\` and has \`${effect}\` now`
    }
    default:
      return reach satisfies never
  }
}

function describeCall(came: StepCall | null): string {
  if (came === null) return 'no other came'
  return `step "${came.key}" (${came.kind}) came${came.place === null ? '' : ` at ${came.place}`}`
}

function describeDone(status: Exclude<StepStatus, 'waiting'>): string {
  return status === 'started' ? 'started' : 'finished'
}

export interface StepFailure {
  key: string
  /** Counted from 1. */
  attempt: number
  /** Epoch milliseconds. */
  at: number
  error: Failure
}
