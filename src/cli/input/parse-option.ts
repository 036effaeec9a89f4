import { InvalidArgumentError } from 'commander'
import { parseDuration, systemClock } from '../../core/time.ts'

/** Reads an option that counts: a whole number from 1 to `most`. */
export function countUpTo(most: number): (text: string) => number {
  return (text) => {
    const count = /^\d{1,9}$/.test(text) ? Number(text) : 0
    if (count >= 1 && count <= most) return count
    throw new InvalidArgumentError(`It is a whole number from 1 to ${most}.`)
  }
}

/** Gathers an option that may be given several times. */
export function gather(text: string, before: string[]): string[] {
  return [...before, text]
}

/** Reads a length of time, such as `30s` or `2h`, in milliseconds. */
export function duration(text: string): number {
  try {
    return parseDuration(text)
  } catch {
    throw new InvalidArgumentError('It is a length of time such as 30s, 15m, 2h or 1d.')
  }
}

/**
 * Reads `--since`: how long ago, such as `24h`, or a moment as ISO 8601. Gives epoch milliseconds.
 */
export function parseSince(text: string): number {
  const now = systemClock.now()
  try {
    return now - parseDuration(text)
  } catch {
    // Years alone, and bare numbers, are taken for dates by Date.parse.
    const moment = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN
    if (!Number.isNaN(moment)) return moment
    throw new InvalidArgumentError(
      'Say how long ago, such as 30m, 24h or 7d, or since when, such as 2026-06-01T12:00Z.',
    )
  }
}
