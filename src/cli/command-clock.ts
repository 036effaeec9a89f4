import type { ReadStore } from '../core/store/store.ts'
import { type Clock, systemClock } from '../core/time.ts'

/** Milliseconds by which the clock of the database is ahead of the machine's. */
let aheadMs = 0

/** The clock that a command acts by: the machine's until a database with its own is open. */
export const commandClock: Clock = {
  now: () => systemClock.now() + aheadMs,
  uptime: () => performance.now(),
  at: (moment, wake) => systemClock.at(moment - aheadMs, wake),
}

/** Sets the clock of commands by a database. Its error is half of the round trip. */
export async function followDatabase(store: Pick<ReadStore, 'readClock'>): Promise<void> {
  const askedAt = systemClock.now()
  const moment = await store.readClock()
  if (moment !== null) aheadMs = Math.round(moment - (askedAt + systemClock.now()) / 2)
}
