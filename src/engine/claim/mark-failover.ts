import type { Notice } from '../../core/notices.ts'
import type { Lease } from '../../core/runs/lease.ts'
import type { Store } from '../../core/store/store.ts'

/**
 * The notice of a lost pass, marked where the database has another history since its claim. Others
 * stay as they are. A pass is lost seldom, so that one read for each costs nothing.
 */
export async function markFailover(
  notice: Notice,
  { era, worker }: Pick<Lease, 'era' | 'worker'>,
  { store, signal }: { store: Pick<Store, 'listLeases'>; signal: AbortSignal },
): Promise<Notice> {
  if (notice.kind !== 'run.lost' || era === undefined || signal.aborted) return notice
  const leases = await store.listLeases(worker).catch(() => [])
  return leases.some((lease) => lease.era !== era) ? { ...notice, failover: true } : notice
}
