/** Clocks that differ by less are the same: an answer is on its way for some time. */
const MIN_APART_MS = 10_000

/** How far the clock of the app is ahead of the browser's, in milliseconds. */
let aheadMs = 0

/** Reads the clock of the app off an answer. */
export function readClock({ headers }: Response): void {
  const ahead = Date.parse(headers.get('Date') ?? '') - Date.now()
  if (!Number.isNaN(ahead)) aheadMs = Math.abs(ahead) < MIN_APART_MS ? 0 : ahead
}

/** The present moment by the clock of the app, which made all others of the page. */
export function appNow(): number {
  return Date.now() + aheadMs
}
