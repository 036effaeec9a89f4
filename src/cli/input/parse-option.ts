import { InvalidArgumentError } from 'commander'
import { parseDuration, readIso } from '../../core/time.ts'

/** A parser of whole numbers from 1 to `most`. */
export function countUpTo(most: number): (text: string) => number {
  return (text) => {
    const count = /^\d{1,9}$/.test(text) ? Number(text) : 0
    if (count >= 1 && count <= most) return count
    throw new InvalidArgumentError(`Give a whole number from 1 to ${most}.`)
  }
}

export function parseJsonOption(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new InvalidArgumentError(`It is not JSON. Put text in double quotes: '{"size": 12}' or '"text"'.`)
  }
}

/** Collects the values of an option that may be repeated. */
export function gather(text: string, before: readonly string[] = []): string[] {
  return [...before, text]
}

/** Reads a duration such as `30s` or `2h`, in milliseconds. */
export function parseMs(text: string): number {
  try {
    return parseDuration(text)
  } catch {
    throw new InvalidArgumentError('Give a duration, such as 300ms, 30s, 15m, 2h or 1d.')
  }
}

/**
 * A moment of an option, in epoch milliseconds. `now` is known once the database is open, whose
 * clock commands act by.
 */
export type Since = (now: number) => number

/** Reads `--since`: a duration before now, such as `24h`, or an ISO 8601 time. */
export function parseSince(text: string): Since {
  try {
    const ms = parseDuration(text)
    return (now) => now - ms
  } catch {
    const moment = readIso(text)
    if (!Number.isNaN(moment)) return () => moment
    throw new InvalidArgumentError(
      'Give a duration before now, such as 30m, 24h or 7d, or a time, such as 2026-06-01T12:00Z.',
    )
  }
}
