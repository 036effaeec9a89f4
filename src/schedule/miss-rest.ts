import { UpshotError } from '../core/errors.ts'
import type { Publish } from '../core/notices.ts'
import type { DueSchedule, NextMoment } from '../core/runs/schedule.ts'
import type { Store } from '../core/store/store.ts'

interface Parts {
  store: Pick<Store, 'noteMissed' | 'lookAtSchedule'>
  publish: Publish
}

/** Ends a backfill whose schedule was removed: it has missed the moments that are left. */
export async function missRest(
  { store, publish }: Parts,
  { id, name, version, workflow, lastAt }: DueSchedule,
  { next, now }: { next: NextMoment; now: number },
): Promise<void> {
  let left = 0
  let handledAt = lastAt
  for (let moment = next(lastAt); moment !== null; moment = next(moment)) {
    handledAt = moment
    left += 1
  }
  const count = await store.noteMissed(id, left, lastAt)
  if (count > 0) publish({ kind: 'ticks.missed', schedule: name, workflow: workflow ?? '', count, since: lastAt })
  await store.lookAtSchedule(id, { version, nextAt: null, handledAt }, now)
}

/** For a schedule that is gone. */
export function nullIfGone(error: unknown): null {
  if (error instanceof UpshotError && error.code === 'not_found') return null
  throw error
}
