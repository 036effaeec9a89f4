/** What each code means at the edges: its HTTP status, and whether trying again later may help. */
const CODES = {
  invalid_config: { status: 500, retryable: false },
  invalid_duration: { status: 400, retryable: false },
  invalid_workflow: { status: 500, retryable: false },
  invalid_event: { status: 400, retryable: false },
  invalid_request: { status: 400, retryable: false },
  invalid_signature: { status: 401, retryable: false },
  not_found: { status: 404, retryable: false },
  conflict: { status: 409, retryable: false },
  body_too_large: { status: 413, retryable: false },
  overloaded: { status: 503, retryable: true },
  draining: { status: 503, retryable: true },
  store_unavailable: { status: 503, retryable: true },
  stale_lease: { status: 409, retryable: false },
  output_too_large: { status: 500, retryable: false },
  step_failed: { status: 500, retryable: false },
  step_timeout: { status: 504, retryable: true },
  needs_confirmation: { status: 409, retryable: false },
  run_timeout: { status: 504, retryable: false },
  not_running: { status: 503, retryable: true },
  internal: { status: 500, retryable: true },
} as const satisfies Record<string, { status: number; retryable: boolean }>

export type ErrorCode = keyof typeof CODES

/** Every unexpected end of ours. The message is for a person: what happened, why, what to do. */
export class UpshotError extends Error {
  override readonly name: string = 'UpshotError'
  readonly code: ErrorCode
  readonly details: Record<string, unknown>

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; details?: Record<string, unknown> } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.code = code
    this.details = options.details ?? {}
  }

  get status(): number {
    return CODES[this.code].status
  }

  get retryable(): boolean {
    return CODES[this.code].retryable
  }
}

/** Thrown by an author: the step or run fails now, without another attempt. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError'
}

/**
 * Thrown by an author, or by a client that was told to wait: the next attempt comes at `moment`,
 * never earlier.
 */
export class RetryAt extends Error {
  override readonly name = 'RetryAt'
  /** Epoch milliseconds. */
  readonly moment: number

  constructor(moment: number | Date, message = 'asked to try again later', options: { cause?: unknown } = {}) {
    super(message, options)
    this.moment = Number(moment)
  }
}

/**
 * A step that failed for good: what the author's code sees, in the first attempt and in every
 * replay.
 */
export class StepError extends Error {
  override readonly name = 'StepError'
  readonly step: string
  readonly attempts: number
  readonly failure: Failure

  constructor(step: string, attempts: number, failure: Failure) {
    super(`step "${step}" failed after ${attempts} attempt(s): ${failure.message}`)
    this.step = step
    this.attempts = attempts
    this.failure = failure
  }
}

/**
 * A `once` step that had begun when its process died or gave it up: whether its effect happened is
 * for the author's code, or a person, to find out. The step never runs again.
 */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
  readonly code = 'interrupted'
  readonly retryable = false
  readonly step: string

  constructor(step: string) {
    super(`step "${step}" may happen at most once and was interrupted: whether it took effect is not known`)
    this.step = step
  }
}

/** What a row keeps of an error: no stack of foreign code, no headers, no bodies. */
export interface Failure {
  name: string
  message: string
  code?: string
  /** Of a run: the step that failed. */
  step?: string
  /** Where in the author's code, at most 5 frames. */
  at?: string[]
}

const MESSAGE_LIMIT = 2_000

/** Reads any thrown value, also one that is no Error, into what may be stored and logged. */
export function describeError(error: unknown): Failure {
  if (!(error instanceof Error)) return { name: 'Thrown', message: toMessage(() => error) }
  const code = readText(error, 'code')
  const frames = (readText(error, 'stack') ?? '')
    .split('\n')
    .filter((line) => line.trimStart().startsWith('at '))
    .slice(0, 5)
    .map((line) => line.trim().slice(3))
  return {
    name: readText(error, 'name') ?? 'Error',
    message: toMessage(() => withCause(error)),
    ...(code === undefined ? {} : { code }),
    ...(frames.length > 0 ? { at: frames } : {}),
  }
}

/**
 * A text of an error, in whose place an author may have put anything. Reading it may throw: it may
 * be a getter, and V8 makes the stack of name and message when it is first asked for.
 */
function readText(error: Error & { code?: unknown }, name: 'name' | 'stack' | 'code'): string | undefined {
  try {
    const text = error[name]
    return typeof text === 'string' ? text : undefined
  } catch {
    return undefined
  }
}

/** `fetch failed` alone helps nobody; what it failed at is in the cause. */
function withCause({ message, cause }: Error): string {
  return cause instanceof Error && cause.message !== '' && cause.message !== message
    ? `${message} (${cause.message})`
    : message
}

function toMessage(read: () => unknown): string {
  try {
    return redactUrls(String(read()).slice(0, MESSAGE_LIMIT))
  } catch {
    return 'a value that has no text'
  }
}

/**
 * Query strings carry signatures of download URLs, and `user:password@` a login; both are cut from
 * every text that is kept.
 */
export function redactUrls(text: string): string {
  return text
    .replace(/(https?:\/\/)[^\s"'<>/?#]*@/gi, '$1…@')
    .replace(/(https?:\/\/[^\s"'<>?#]*)[?#][^\s"'<>]*/gi, '$1?…')
}
