import type { Look } from '../../core/alerts/alert-book.ts'
import type { AlertRule } from '../../core/alerts/alert-rule.ts'
import type { ReadStore } from '../../core/store/store.ts'

/** A process may commit a row this long after the moment in it. */
export const COMMIT_DELAY_MS = 3_000
/** Operations of one look; what is left comes with the next one. */
const MAX_ENDED = 1_000

/** Operations on many runs that have ended since the moment in the position. */
export async function lookAtOperations(
  { store }: { store: Pick<ReadStore, 'listEndedBulks'> },
  _rule: AlertRule,
  position: string | null,
  now: number,
): Promise<Look> {
  const until = now - COMMIT_DELAY_MS
  const since = Number(position)
  if (position === null || since > now) return { sightings: [], position: String(until) }
  const ended = await store.listEndedBulks({ since, until, limit: MAX_ENDED })
  const sightings = ended.map(({ id, kind, status, done, refused, endedAt }) => ({
    id,
    title: `the operation “${kind}” is ${status}: ${done} runs, ${refused} refused`,
    page: '/system?tab=operations',
    command: 'audit list',
    at: endedAt ?? until,
    count: 1,
  }))
  return { sightings, position: String(ended.at(-1)?.endedAt ?? since) }
}
