/** How far a run has come, by its own word. */
export interface Progress {
  /** Parts done, from 0; also of bytes, or whatever its code counts. */
  done: number
  /** All parts; 0 where there is nothing to do. */
  total: number
  /** Parts that failed for good, which are not among those done. */
  failed: number
  /** Says what is counted, such as `files compared`; null where nothing does. */
  note: string | null
  /** Parts per second by the last half minute; null: nothing has moved yet. */
  rate: number | null
  /** When it said so, in epoch milliseconds. */
  at: number
}

/** Most characters of a note. */
export const MAX_NOTE_LENGTH = 100
/** Least time between two writes of a run's progress, in milliseconds. */
export const PROGRESS_MS = 1_000

/** Why the arguments of `progress` are none; null: they fit. */
export function findProgressFault(done: unknown, total: unknown, note: unknown): string | null {
  if (!isCount(done)) return '`done` must be a number of 0 or more'
  if (!isCount(total)) return '`total` must be a number of 0 or more'
  return note === undefined || typeof note === 'string' ? null : '`note` must be text'
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

/** The part that is over, from 0 to 1: done or failed. */
export function shareOf({ done, total, failed }: Pick<Progress, 'done' | 'total' | 'failed'>): number {
  return total === 0 ? 1 : Math.min(1, (done + failed) / total)
}

/** Time until it is over at this rate, in milliseconds; null: nobody knows, or it is. */
export function timeLeft({ done, total, failed, rate }: Omit<Progress, 'at'>): number | null {
  const left = total - done - failed
  return rate === null || rate <= 0 || left <= 0 ? null : (left / rate) * 1_000
}
