/** Only what is read here; `Headers` has it. */
export interface HeaderSource {
  get(name: string): string | null
}

/** Waits beyond these are taken for nonsense and ignored. */
const MAX_RETRY_AFTER_MS = 365 * 86_400_000
const MAX_RESET_MS = 86_400_000

/** What a 429 without a usable header means: one whole window of the service. */
export const DEFAULT_WINDOW_MS = 60_000

/** `Date` and `X-RateLimit-Reset` count whole seconds; one more keeps us on the far side. */
const ROUNDING_MS = 1_000

/**
 * How long the server wants us to wait, in milliseconds from the moment `now` its reply came; null
 * when it does not say. Moments are compared with the server's own `Date`, so a clock that is wrong
 * here changes nothing.
 */
export function parseRetryAfter(headers: HeaderSource, now: number): number | null {
  const text = headers.get('retry-after')?.trim() ?? ''
  const waitMs = isNumberList(text) ? longestSeconds(text) * 1_000 : parseHttpDate(text) - serverTime(headers, now)
  if (!Number.isFinite(waitMs) || waitMs > MAX_RETRY_AFTER_MS) return null
  return Math.max(0, Math.ceil(waitMs))
}

/** The same of a 429, which may carry `X-RateLimit-Reset` instead, or neither. */
export function parseThrottleWait(headers: HeaderSource, now: number): number {
  return parseRetryAfter(headers, now) ?? parseReset(headers, now) ?? DEFAULT_WINDOW_MS
}

/** A non-negative whole number in a header; null for anything else. */
export function parseCount(headers: HeaderSource, name: string): number | null {
  const text = headers.get(name)?.trim() ?? ''
  return /^\d{1,9}$/.test(text) ? Number(text) : null
}

/** Reset comes as epoch milliseconds, epoch seconds or seconds from now; its size tells which. */
function parseReset(headers: HeaderSource, now: number): number | null {
  const text = headers.get('x-ratelimit-reset')?.trim() ?? ''
  if (!/^\d+(\.\d+)?$/.test(text)) return null
  const value = Number(text)
  if (value < 1e9) return withinReason(value * 1_000)
  const moment = value >= 1e12 ? value : value * 1_000
  const waitMs = moment - serverTime(headers, now)
  // A moment gone by on our own clock only says that one of the two clocks is wrong.
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

/** A header sent twice arrives as a list; the longest wait in it is the safe one. */
function isNumberList(text: string): boolean {
  return /^\d+(\.\d+)?(\s*,\s*\d+(\.\d+)?)*$/.test(text)
}

function longestSeconds(text: string): number {
  return Math.max(...text.split(',').map(Number))
}

/** `Date.parse` alone would read "12" or "-5" as a year. */
function parseHttpDate(text: string): number {
  return /^[A-Z][a-z]{2,8},? .*\d{2}:\d{2}:\d{2}/.test(text.trim()) ? Date.parse(text) : Number.NaN
}
