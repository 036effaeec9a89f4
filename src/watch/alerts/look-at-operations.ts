import type { Look } from '../../core/alerts/alert-book.ts'
import type { AlertRule } from '../../core/alerts/alert-rule.ts'
import type { BulkOperation } from '../../core/safety/bulk.ts'
import type { ReadStore } from '../../core/store/store.ts'

/** A process may commit a row this long after the moment in it. */
export const COMMIT_DELAY_MS = 3_000
/** An operation on many runs that takes longer may be missed behind a hundred newer ones. */
const MAX_MS = 7 * 86_400_000
/** Operations of one page. */
const BULKS = 100

/** Operations on many runs that have ended since the moment in the position. */
export async function lookAtOperations(
  { store }: { store: Pick<ReadStore, 'listBulks'> },
  _rule: AlertRule,
  position: string | null,
  now: number,
): Promise<Look> {
  const until = now - COMMIT_DELAY_MS
  const since = Number(position)
  if (position === null || since > now) return { sightings: [], position: String(until) }
  const ended = (await listBulksSince(store, since - MAX_MS)).flatMap(({ endedAt, ...bulk }) =>
    endedAt !== null && endedAt > since && endedAt <= until ? [{ ...bulk, endedAt }] : [],
  )
  const sightings = ended.map(({ id, kind, status, done, refused, endedAt }) => ({
    id,
    title: `the operation “${kind}” is ${status}: ${done} runs, ${refused} refused`,
    page: '/system?tab=operations',
    command: 'audit list',
    at: endedAt,
    count: 1,
  }))
  return { sightings, position: String(Math.max(since, ...ended.map(({ endedAt }) => endedAt))) }
}

/** Operations that were begun since then, and some more. */
async function listBulksSince(store: Pick<ReadStore, 'listBulks'>, since: number): Promise<BulkOperation[]> {
  const found: BulkOperation[] = []
  for (let before: { before?: string } = {}; ; ) {
    const page = await store.listBulks({ limit: BULKS, ...before })
    found.push(...page)
    const last = page.at(-1)
    if (last === undefined || page.length < BULKS || last.createdAt < since) return found
    before = { before: last.id }
  }
}
