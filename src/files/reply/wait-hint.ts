/** The part of `Headers` that is read here. */
export type HeaderSource = Pick<Headers, 'get'>

/** Longer waits are taken for errors and ignored. */
const MAX_RETRY_AFTER_MS = 365 * 86_400_000
const MAX_RESET_MS = 86_400_000

/** The wait after a 429 without a usable header: one window of the service. */
const DEFAULT_WINDOW_MS = 60_000

/** Added because `Date` and `X-RateLimit-Reset` are in whole seconds. */
const ROUNDING_MS = 1_000

/**
 * The wait that the server asks for, in milliseconds from `now`; null when it does not say. Dates
 * are compared with the server's own `Date`.
 */
export function parseRetryAfter(headers: HeaderSource, now: number): number | null {
  const text = headers.get('retry-after')?.trim() ?? ''
  const waitMs = isNumberList(text) ? longestSeconds(text) * 1_000 : parseHttpDate(text) - serverTime(headers, now)
  if (!Number.isFinite(waitMs) || waitMs > MAX_RETRY_AFTER_MS) return null
  return Math.max(0, Math.ceil(waitMs))
}

/** The wait after a 429: from `Retry-After`, else from `X-RateLimit-Reset`, else one window. */
export function parseThrottleWait(headers: HeaderSource, now: number): number {
  return parseRetryAfter(headers, now) ?? parseReset(headers, now) ?? DEFAULT_WINDOW_MS
}

/** A header's whole number of at least 0; null for anything else. */
export function parseCount(headers: HeaderSource, name: string): number | null {
  const text = headers.get(name)?.trim() ?? ''
  return /^\d{1,9}$/.test(text) ? Number(text) : null
}

/** Parses `X-RateLimit-Reset`: epoch milliseconds, epoch seconds, or seconds from now, by size. */
function parseReset(headers: HeaderSource, now: number): number | null {
  const text = headers.get('x-ratelimit-reset')?.trim() ?? ''
  if (!/^\d+(\.\d+)?$/.test(text)) return null
  const value = Number(text)
  if (value < 1e9) return withinReason(value * 1_000)
  const moment = value >= 1e12 ? value : value * 1_000
  const waitMs = moment - serverTime(headers, now)
  // Without the server's `Date`, a past moment only says that one of the clocks is wrong.
  if (waitMs < 0 && Number.isNaN(parseHttpDate(headers.get('date') ?? ''))) return null
  return withinReason(Math.max(0, waitMs))
}

function withinReason(waitMs: number): number | null {
  return waitMs > MAX_RESET_MS ? null : Math.ceil(waitMs) + ROUNDING_MS
}

function serverTime(headers: HeaderSource, now: number): number {
  const moment = parseHttpDate(headers.get('date') ?? '')
  return Number.isNaN(moment) ? now : moment
}

/** A header that was sent twice arrives as a list; the longest wait counts. */
function isNumberList(text: string): boolean {
  return /^\d+(\.\d+)?(\s*,\s*\d+(\.\d+)?)*$/.test(text)
}

function longestSeconds(text: string): number {
  return Math.max(...text.split(',').map(Number))
}

/** `Date.parse` alone reads "12" or "-5" as a year. */
function parseHttpDate(text: string): number {
  return /^[A-Z][a-z]{2,8},? .*\d{2}:\d{2}:\d{2}/.test(text.trim()) ? Date.parse(text) : Number.NaN
}
