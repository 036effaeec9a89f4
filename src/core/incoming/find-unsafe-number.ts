import type { ServiceEvent } from './event.ts'

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
