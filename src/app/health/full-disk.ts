import type { Clock } from '../../core/time.ts'
import type { NoticeBus } from '../../notices/notice-bus.ts'

/** Longer than load balancers and scrapers take from one look to the next, in milliseconds. */
export const FULL_FOR_MS = 30_000

/**
 * Watches for deliveries that find no room on the disk of the database. The result throws for a
 * while after each: the row that a probe writes may well find some. See decision 90.
 */
export function watchFullDisk({ notices, clock }: { notices: Pick<NoticeBus, 'subscribe'>; clock: Clock }): () => void {
  let refusedAt = Number.NEGATIVE_INFINITY
  notices.subscribe('delivery.received', ({ verdict, facts }) => {
    if (verdict === 'unavailable' && facts.reason === 'database_full') refusedAt = clock.now()
  })
  return () => {
    const ageMs = clock.now() - refusedAt
    if (ageMs >= FULL_FOR_MS) return
    throw new Error(`the disk of the database is full: a delivery found no room ${Math.ceil(ageMs / 1_000)} s ago`)
  }
}
