import { isoTime } from '../../core/time.ts'
import {
  AuthenticationError,
  type ErrorFacts,
  type FilesError,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  ProtocolError,
  RateLimitError,
  ServerError,
  UpstreamError,
} from '../errors.ts'
import { MAX_BLOCK_MS } from '../limit/decide-start.ts'
import type { ParsedReply } from './parse-reply.ts'
import { type HeaderSource, parseCount, parseRetryAfter, parseThrottleWait } from './wait-hint.ts'

const CODES = {
  authentication_error: AuthenticationError,
  permission_denied: PermissionError,
  invalid_request: InvalidRequestError,
  invalid_parameter: InvalidRequestError,
  resource_not_found: NotFoundError,
  service_error: UpstreamError,
} as const

const STATUSES: Record<number, new (message: string, facts: ErrorFacts) => FilesError> = {
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  410: NotFoundError,
  408: ServerError,
  425: ServerError,
  502: UpstreamError,
}

/** A 404 without a code is not in the form of the service's errors. */
const NOT_ITS_FORM =
  ' Nothing in it says that the entry is missing: a proxy may have answered, or the base URL is wrong.'

/**
 * The error of a reply that is not a success. The code decides before the status; but 429 always
 * means a wait, and 5xx never a missing entry. A 404 means one only with a code. `isHost`: the
 * download host replied.
 */
export function toReplyError(
  reply: { status: number; headers: HeaderSource; parsed: Exclude<ParsedReply, { kind: 'ok' }> },
  { facts, now, isHost = false }: { facts: ErrorFacts; now: number; isHost?: boolean },
): FilesError {
  const { status, headers, parsed } = reply
  const said = parsed.kind === 'error' ? parsed : { code: null, message: null, details: null }
  const isThrottled = status === 429 || said.code === 'rate_limit_exceeded'
  // Never at once: a service that answers `Retry-After: 0` for ever would be asked without a pause.
  const waitMs = isThrottled
    ? Math.max(MIN_THROTTLE_MS, parseThrottleWait(headers, now))
    : parseRetryAfter(headers, now)
  const retryAt = waitMs === null ? null : now + Math.min(waitMs, MAX_BLOCK_MS)
  const code = said.code === null ? '' : ` ${said.code}`
  const types = typesOf(headers)
  const form = parsed.kind === 'unreadable' ? describeTypes(types) : ''
  const when = waitMs === null || waitMs === 0 ? '' : describeWait(now, waitMs)
  // Another sentence may follow.
  const reason = said.message === null ? '.' : `: ${said.message.trimEnd().replace(/[^.!?]$/, '$&.')}`
  const ErrorClass = errorClass(status, said.code)
  const doubt = ErrorClass === ProtocolError && !isHost ? NOT_ITS_FORM : ''
  const message = `The ${isHost ? 'download host' : 'service'} answered ${status}${code}${form}${reason}${doubt}${when}`
  const { code: ownCode, details } = said
  const full = { ...facts, ...types, status, code: ownCode, details, requestId: requestIdOf(headers), retryAt }
  if (isThrottled) {
    const limit = parseCount(headers, 'x-ratelimit-limit')
    const remaining = parseCount(headers, 'x-ratelimit-remaining')
    return new RateLimitError(message, { ...full, retryAt: retryAt ?? now, limit, remaining })
  }
  return new ErrorClass(message, full)
}

function errorClass(status: number, code: string | null): new (message: string, facts: ErrorFacts) => FilesError {
  const byCode = code !== null && code in CODES ? CODES[code as keyof typeof CODES] : null
  if (byCode !== null && (status < 500 || byCode === UpstreamError)) return byCode
  if (code === null && STATUSES[status] === NotFoundError) return ProtocolError
  return STATUSES[status] ?? (status >= 400 && status < 500 ? InvalidRequestError : ServerError)
}

/** The least pause after a 429. */
const MIN_THROTTLE_MS = 1_000

function describeWait(now: number, waitMs: number): string {
  const named = isoTime(now + waitMs)
  if (waitMs <= MAX_BLOCK_MS) return ` Call again at ${named}.`
  return ` It named ${named}; Upshot asks again after an hour, at ${isoTime(now + MAX_BLOCK_MS)}.`
}

export function typesOf(headers: HeaderSource): { contentType: string | null; contentEncoding: string | null } {
  return { contentType: headers.get('content-type'), contentEncoding: headers.get('content-encoding') }
}

/** Type and coding in words, such as ` with text/html in the coding gzip`; empty without a type. */
export function describeTypes({ contentType, contentEncoding }: ReturnType<typeof typesOf>): string {
  const coding = contentEncoding === null ? '' : ` in the coding ${contentEncoding}`
  return contentType === null && coding === '' ? '' : ` with ${contentType ?? 'an unnamed type'}${coding}`
}

/** The request id, by its two usual header names: the service documents none. */
export function requestIdOf(headers: HeaderSource): string | null {
  return headers.get('x-request-id') ?? headers.get('request-id')
}
