import type { CronTrigger, ScheduleRecord } from '../../core/runs/schedule.ts'
import { listTickAccounts } from '../../core/service/account.ts'
import type { ReadStore } from '../../core/store/store.ts'
import type { Surroundings } from '../ports/surroundings.ts'

interface Parts {
  store: Pick<ReadStore, 'listTickMoments' | 'listAccounts'>
  surroundings: Pick<Surroundings, 'nextTicks'>
}

/** Ticks of the future that are passed over. */
const MAX_MADE = 1_000

/**
 * Moments after `now` at which a schedule is due, the first `count`. Those of which all accounts
 * have a tick are left out: a clock was ahead. None of a paused schedule, or of a backfill.
 */
export async function listNextTicks(
  { store, surroundings }: Parts,
  { id, plan, doneAt, pausedAt, lastTickAt }: ScheduleRecord,
  { now, count }: { now: number; count: number },
): Promise<number[]> {
  if (doneAt !== null || pausedAt !== null || plan.kind === 'backfill') return []
  const stretch = { from: now, to: lastTickAt ?? 0, limit: MAX_MADE }
  const made = stretch.to > now ? await listMade(store, { id, plan }, stretch) : []
  const moments = surroundings.nextTicks(plan, now, count + made.length)
  return moments.filter((moment) => !made.includes(moment)).slice(0, count)
}

/** Moments between two that have a tick of each account of a schedule, up to `limit`. */
export async function listMade(
  store: Parts['store'],
  { id, plan }: { id: string; plan: Pick<CronTrigger, 'accounts'> },
  stretch: { from: number; to: number; limit: number },
): Promise<number[]> {
  const accounts = await listTickAccounts(plan, () => store.listAccounts())
  return store.listTickMoments(id, { ...stretch, accounts: accounts.length })
}
