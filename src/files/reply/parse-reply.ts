import { scanJson } from '../../core/incoming/scan-json.ts'
import { isPlainObject } from '../../core/json.ts'

/** A reply of the API in one shape, whichever of the two forms it came in. */
export type ParsedReply =
  | { kind: 'ok'; data: unknown; pagination: Pagination | null; hasFlag: boolean }
  | { kind: 'error'; code: string | null; message: string | null; details: unknown }
  /** Not a JSON object, or one that is neither an answer nor an error. */
  | { kind: 'unreadable' }

/** Pagination of a list; a field is null when it was not sent. */
export interface Pagination {
  limit: number | null
  totalItems: number | null
  totalPages: number | null
}

const NO_LIMITS = { depth: Infinity, keys: Infinity }

/** Bound of an error's message, which is for people. */
const MAX_MESSAGE_CHARACTERS = 500

/** Parses a reply by its shape. `status` only tells an empty success from an empty failure. */
export function parseReply(status: number, text: string): ParsedReply {
  const isSuccess = status >= 200 && status < 300
  if (text.trim() === '' && isSuccess) return { kind: 'ok', data: null, pagination: null, hasFlag: false }
  const body = parseObject(text)
  if (body === null) return { kind: 'unreadable' }
  if (!isSuccess || saysFailure(body)) return parseFailure(body)
  const hasFlag = isYes(body.success) || isYes(body.status)
  if (!hasFlag && body.data === undefined) return { kind: 'unreadable' }
  return { kind: 'ok', data: body.data ?? null, pagination: parsePagination(body.pagination), hasFlag }
}

/** A flag that is there and no yes, or an error beside the data: nobody should act on such data. */
function saysFailure({ success, status, error }: Record<string, unknown>): boolean {
  const isNo = success !== undefined && !isYes(success)
  return isNo || (typeof status === 'string' && !isYes(status)) || isPlainObject(error)
}

function isYes(flag: unknown): boolean {
  return flag === true || (typeof flag === 'string' && /^(true|success|succeeded|ok)$/i.test(flag))
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    // Nobody can say which of two equal keys, such as `id`, the service means.
    return isPlainObject(value) && !scanJson(text, NO_LIMITS).hasTwin ? value : null
  } catch {
    // The parser's message quotes the body, which may hold a download URL.
    return null
  }
}

function parseFailure(body: Record<string, unknown>): ParsedReply {
  const error = isPlainObject(body.error) ? body.error : { message: body.error ?? body.message }
  const details = error.details ?? null
  return {
    kind: 'error',
    code: readText(error.code),
    message: (readText(error.message) ?? readText(details))?.slice(0, MAX_MESSAGE_CHARACTERS) ?? null,
    details,
  }
}

function parsePagination(raw: unknown): Pagination | null {
  if (!isPlainObject(raw)) return null
  return {
    limit: readCount(raw.limit),
    totalItems: readCount(raw.totalItems ?? raw.total_items),
    totalPages: readCount(raw.totalPages ?? raw.total_pages),
  }
}

/** The value if it is a text that is not blank, otherwise null. */
export function readText(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null
}

/** A whole number of at least 0, as a number or as text; otherwise null. */
export function readCount(value: unknown): number | null {
  const count = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  return Number.isSafeInteger(count) && Number(count) >= 0 ? Number(count) : null
}
