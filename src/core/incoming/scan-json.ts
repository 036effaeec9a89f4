import type { ServiceEvent } from './event.ts'

const SPACE = 0x20
const QUOTE = 0x22
const COLON = 0x3a
const BACKSLASH = 0x5c
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d]

/** The shape of a JSON text before it is parsed. */
interface JsonShape {
  /** Deepest nesting. */
  depth: number
  keys: number
  /** Whether an object has a key twice, escaped or not. */
  hasTwin: boolean
}

/**
 * Scans a JSON text in one pass and stops at the first limit exceeded. The result for text that is
 * not JSON means nothing; the parser rejects it later. See decision 18.
 */
export function scanJson(text: string, limits: { depth: number; keys: number }): JsonShape {
  const shape: JsonShape = { depth: 0, keys: 0, hasTwin: false }
  const open: (Set<string> | null)[] = []
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const end = endOfText(text, at + 1)
      const next = skipSpace(text, end + 1)
      if (text.charCodeAt(next) === COLON) addKey(shape, open, text.slice(at + 1, end))
      at = end
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      open.push(code === OPEN_OBJECT ? new Set() : null)
      if (open.length > shape.depth) shape.depth = open.length
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) open.pop()
    if (shape.depth > limits.depth || shape.keys > limits.keys || shape.hasTwin) break
  }
  return shape
}

function addKey(shape: JsonShape, open: readonly (Set<string> | null)[], written: string): void {
  const keys = open.at(-1)
  const key = written.includes('\\') ? decodeKey(written) : written
  shape.keys += 1
  if (keys?.has(key)) shape.hasTwin = true
  keys?.add(key)
}

/** A key that is not valid JSON stays as it is; the parser rejects it later. */
function decodeKey(written: string): string {
  try {
    return JSON.parse(`"${written}"`)
  } catch {
    return written
  }
}

/** The index of the quote that ends a string; the length of the text where there is none. */
function endOfText(text: string, from: number): number {
  let end = text.indexOf('"', from)
  while (end !== -1 && isEscaped(text, end, from)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end
}

/** Whether an odd number of backslashes precedes `at`. */
function isEscaped(text: string, at: number, from: number): boolean {
  let before = at - 1
  while (before >= from && text.charCodeAt(before) === BACKSLASH) before--
  return (at - before) % 2 === 0
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (at < text.length && text.charCodeAt(at) <= SPACE) at++
  return at
}

/** Every number beyond 2^53 has at least so many digits, or an exponent. */
const MAYBE_UNSAFE = /[:[,]\s*-?(\d{16}|\d+(\.\d+)?[eE])/

/** Characters of a path that are kept. */
const MAX_PATH = 200

/**
 * The path of a whole number in an event that JSON.parse has rounded, such as `data.file.id`; null
 * for none. An id of that kind names another file.
 */
export function findUnsafeNumber({ data }: Pick<ServiceEvent, 'data'>, text: string): string | null {
  // Most bodies have no such digits, and are not walked through.
  return MAYBE_UNSAFE.test(text) ? (pathTo(data, 'data')?.slice(0, MAX_PATH) ?? null) : null
}

function pathTo(value: unknown, path: string): string | null {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value) ? path : null
  if (typeof value !== 'object' || value === null) return null
  for (const [key, item] of Object.entries(value)) {
    const found = pathTo(item, `${path}.${key}`)
    if (found !== null) return found
  }
  return null
}
