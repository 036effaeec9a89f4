/** The HTTP status of each code, and whether the same call may succeed later. */
const CODES = {
  invalid_config: { status: 500, retryable: false },
  invalid_duration: { status: 400, retryable: false },
  invalid_workflow: { status: 500, retryable: false },
  invalid_event: { status: 400, retryable: false },
  invalid_request: { status: 400, retryable: false },
  invalid_signature: { status: 401, retryable: false },
  unauthenticated: { status: 401, retryable: false },
  forbidden: { status: 403, retryable: false },
  not_found: { status: 404, retryable: false },
  unknown_operation: { status: 404, retryable: false },
  conflict: { status: 409, retryable: false },
  list_changed: { status: 409, retryable: false },
  body_too_large: { status: 413, retryable: false },
  misdirected: { status: 421, retryable: false },
  too_many_requests: { status: 429, retryable: true },
  overloaded: { status: 503, retryable: true },
  draining: { status: 503, retryable: true },
  key_refused: { status: 502, retryable: false },
  service_failed: { status: 502, retryable: true },
  store_unavailable: { status: 503, retryable: true },
  stale_lease: { status: 409, retryable: false },
  stale_plan: { status: 503, retryable: true },
  output_too_large: { status: 500, retryable: false },
  output_not_json: { status: 500, retryable: false },
  invoke_too_deep: { status: 500, retryable: false },
  step_failed: { status: 500, retryable: false },
  nested_step: { status: 500, retryable: false },
  step_timeout: { status: 504, retryable: true },
  denied: { status: 403, retryable: false },
  needs_confirmation: { status: 409, retryable: false },
  run_ended: { status: 409, retryable: false },
  run_timeout: { status: 504, retryable: false },
  not_running: { status: 503, retryable: true },
  undeclared_effect: { status: 500, retryable: false },
  internal: { status: 500, retryable: true },
} as const satisfies Record<string, { status: number; retryable: boolean }>

export type ErrorCode = keyof typeof CODES

/** Every error that Upshot itself throws. The message says what happened, why, and what to do. */
export class UpshotError extends Error {
  override readonly name: string = 'UpshotError'
  readonly code: ErrorCode
  /** Facts for `--json`, the log and the hint of the command line; never a secret. */
  readonly details: Record<string, unknown>

  /** `fix`: the next thing to do, as a sentence. It becomes one of the details. */
  constructor(
    code: ErrorCode,
    message: string,
    { cause, details = {}, fix }: { cause?: unknown; details?: Record<string, unknown>; fix?: string } = {},
  ) {
    super(message, cause === undefined ? {} : { cause })
    this.code = code
    this.details = fix === undefined ? details : { ...details, fix }
  }

  /** HTTP status that an edge answers with. */
  get status(): number {
    return CODES[this.code].status
  }

  /** True where the same call may succeed later. */
  get retryable(): boolean {
    return CODES[this.code].retryable
  }
}

/** A request that cannot be done as it is, with the next thing to do, as a sentence. */
export function refuse(message: string, fix: string): UpshotError {
  return new UpshotError('invalid_request', message, { fix })
}

/** Throw it to fail now: the step or run gets no further attempt, whatever its `retry` says. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError'
}

/**
 * Thrown by a step verb when the step has failed for good, in the first pass and in every replay.
 * Code that does not catch it fails the run.
 */
export class StepError extends Error {
  override readonly name = 'StepError'
  /** Key of the step: its name, `name[key]`, or `name#2` for the second of that name. */
  readonly step: string
  /** Attempts that counted, 1 or more. */
  readonly attempts: number
  /** The error of the last attempt. */
  readonly failure: Failure

  constructor(step: string, attempts: number, failure: Failure) {
    super(`step "${step}" failed after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}: ${failure.message}`)
    this.step = step
    this.attempts = attempts
    this.failure = failure
  }
}

/**
 * Thrown by a `once` step that had begun when its process died or stopped. Nobody knows whether its
 * effect happened, and the step never runs again.
 */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
  /** Tells an interruption from other errors. */
  readonly code = 'interrupted'
  /** False, because a retry could repeat the effect. */
  readonly retryable = false
  /** Key of the step, as in `StepError`. */
  readonly step: string

  constructor(step: string) {
    super(`step "${step}" may happen at most once and was interrupted: whether it took effect is not known`)
    this.step = step
  }
}

/** An error as a row keeps it: no stack of foreign code, no headers, no bodies. */
export interface Failure {
  /** Name of the error's class, such as `TypeError`. */
  name: string
  /** At most 2,000 characters, with the secrets of URLs removed. */
  message: string
  /** The error's own `code`, where it has one that is text. */
  code?: string
  /** Key of the step that failed; only on a run's failure. */
  step?: string
  /** True for a `once` step that had begun: it never begins again, whoever retries its run. */
  once?: true
  /** Stack frames, innermost first, at most 5. */
  at?: string[]
}

/** Characters of a message that are kept; of a name or code; of a stack that are looked at. */
const MESSAGE_LIMIT = 2_000
const NAME_LIMIT = 200
const STACK_LIMIT = 20_000

/**
 * Whether a value that code of others has thrown is of a class. Such a value may throw whenever it
 * is looked at: a proxy, a getter. See {@link readProperty}, too.
 */
export function isA<T>(value: unknown, type: abstract new (...given: never[]) => T): value is T {
  try {
    return value instanceof type
  } catch {
    return false
  }
}

/** A property of an error that code of others has thrown; undefined where it cannot be read. */
export function readProperty(error: Error, name: string): unknown {
  try {
    return (error as unknown as Record<string, unknown>)[name]
  } catch {
    return undefined
  }
}

/**
 * Turns any thrown value, also one that is not an `Error`, into a failure that may be stored and
 * logged. Never throws.
 */
export function describeError(error: unknown): Failure {
  if (!isA(error, Error)) return { name: 'Thrown', message: toMessage(error) }
  const code = readText(error, 'code', NAME_LIMIT)
  const frames = readFrames(readText(error, 'stack', STACK_LIMIT) ?? '')
  return {
    name: readText(error, 'name', NAME_LIMIT) ?? 'Error',
    message: describeMessage(error),
    ...(code === undefined ? {} : { code }),
    ...(frames.length > 0 ? { at: frames } : {}),
  }
}

/** The folder of this package's code. */
const OWN_CODE = new URL('..', import.meta.url).pathname
const MAX_FRAMES = 5
/** A frame of Node itself. */
const OF_NODE = /(?:^|\(|async )node:/

/**
 * The frames of a stack, without those of Node itself where others are left. A syntax error names
 * its place in the first line, so that comes first.
 */
function readFrames(stack: string): string[] {
  const lines = stack.split('\n')
  const place = /^(?:file:\/\/)?\/\S.*:\d+$/.test(lines[0] ?? '') ? lines.slice(0, 1) : []
  const frames = lines.filter((line) => line.trimStart().startsWith('at ')).map((line) => line.trim().slice(3))
  const foreign = frames.filter((frame) => !OF_NODE.test(frame))
  const kept = place.length + foreign.length > 0 ? [...place, ...foreign] : frames
  // A reloaded module carries its version in a query.
  return kept.slice(0, MAX_FRAMES).map((frame) => frame.replace(/\?upshot-version=\w+/, ''))
}

/**
 * The author's place in a failure, such as `/srv/app/workflows/a.workflow.ts:15`: the innermost
 * frame outside this package and its libraries. Null without one.
 */
export function findAuthorFrame({ at = [] }: Pick<Failure, 'at'>): string | null {
  for (const frame of at) {
    if (OF_NODE.test(frame)) continue
    const [, path = ''] = /(\/[^()]*?:\d+)(?::\d+)?\)?$/.exec(frame.replace('file://', '')) ?? []
    if (path !== '' && !path.startsWith(OWN_CODE) && !path.includes('/node_modules/')) return path
  }
  return null
}

function readText(error: Error, name: 'name' | 'stack' | 'code', limit: number): string | undefined {
  const text = readProperty(error, name)
  return typeof text === 'string' ? text.slice(0, limit) : undefined
}

/** Whether two failures say the same, apart from the moments that they name. */
export function isSameReason(one: Failure | null, other: Failure): boolean {
  const textOf = ({ message }: Failure) => message.replace(/\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, '…')
  return one !== null && textOf(one) === textOf(other)
}

const NO_TEXT = 'a value that has no text'

/** Adds the cause's message: `fetch failed` alone helps nobody. */
function describeMessage(error: Error): string {
  const message = toMessage(readProperty(error, 'message') ?? NO_TEXT)
  const cause = readProperty(error, 'cause')
  const reason = isA(cause, Error) ? toMessage(readProperty(cause, 'message') ?? '') : ''
  return reason === '' || reason === message ? message : `${message} (${reason})`.slice(0, MESSAGE_LIMIT)
}

function toMessage(value: unknown): string {
  try {
    return redactUrls(cutMiddle(textOf(value)).toWellFormed())
  } catch {
    return NO_TEXT
  }
}

/** Of an object without a text of its own, its message or the names of its fields: no values. */
function textOf(value: unknown): string {
  const text = String(value)
  if (text !== '[object Object]') return text
  const { message } = value as { message?: unknown }
  if (typeof message === 'string') return message
  return `an object with the fields ${Object.keys(value as object).join(', ') || '(none)'}`
}

/** Of a long message, the beginning tells what failed, and the end why. */
function cutMiddle(text: string): string {
  if (text.length <= MESSAGE_LIMIT) return text
  return `${text.slice(0, MESSAGE_LIMIT / 2)} … ${text.slice(3 - MESSAGE_LIMIT / 2)}`
}

/** Cuts query strings and `user:password@` out of URLs: they carry signatures and logins. */
export function redactUrls(text: string): string {
  return text
    .replace(/((?:https?|postgres(?:ql)?):\/\/)[^\s"'<>/?#]*@/gi, '$1…@')
    .replace(/(https?:\/\/[^\s"'<>?#]*)[?#][^\s"'<>]*/gi, '$1?…')
}
