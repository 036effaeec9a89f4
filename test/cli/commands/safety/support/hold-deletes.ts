import type { Lease } from '../../../../../src/core/runs/lease.ts'
import type { Limit } from '../../../../../src/core/safety/guard.ts'
import type { Store } from '../../../../../src/core/store/store.ts'
import { beginDelete } from '../../../../contract/support/begin-delete.ts'
import { checkpoint, queueRun } from '../../../../support/fixtures.ts'

const setting = 'guard.all.deletes.perHour'
const NONE: Limit[] = [{ scope: 'all', what: 'deletes', window: 'hour', most: 0, setting, over: 'approve' }]

/** Asks for a delete that is held, unless it is approved. */
export function askDelete(store: Store, lease: Lease, key: string) {
  const step = checkpoint(key, { effect: 'delete', target: `storage_a:${key}` })
  const asked = { path: `/${key}`, bytes: 100, modifiedAt: null }
  return beginDelete(store, lease, step, { limits: NONE, asked, now: Date.now() })
}

/** A run that asks for these deletes, which one approval holds. */
export async function holdDeletes(store: Store, keys: readonly string[]): Promise<{ lease: Lease; id: string }> {
  const now = Date.now()
  await queueRun(store, 'evt_held', 'follow-up', now)
  const [claimed] = await store.claimRuns('wrk_1', 1, now)
  if (!claimed) throw new Error('a run was queued')
  for (const key of keys) await askDelete(store, claimed.lease, key)
  const [approval] = await store.listApprovals({ status: 'open', limit: 1, now })
  return { lease: claimed.lease, id: approval?.id ?? '' }
}
