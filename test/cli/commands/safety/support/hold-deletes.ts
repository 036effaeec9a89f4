import type { Lease } from '../../../../../src/core/runs/lease.ts'
import type { Store } from '../../../../../src/core/store/store.ts'
import { beginDelete, NONE } from '../../../../contract/support/begin-delete.ts'
import { checkpoint } from '../../../../support/fixtures.ts'
import { beginRun } from '../../../support/test-project.ts'

/** Asks for a delete that is held, unless it is approved. */
export function askDelete(store: Store, lease: Lease, key: string, now = Date.now()) {
  const step = checkpoint(key, { effect: 'delete', target: `storage_a:${key}` })
  const asked = { path: `/${key}`, bytes: 100, modifiedAt: null }
  return beginDelete(store, lease, step, { limits: NONE, asked, now })
}

/** A run that asks for these deletes, which one approval holds. */
export async function holdDeletes(store: Store, keys: readonly string[], now = Date.now()) {
  const lease = await beginRun(store, 'evt_held', 'follow-up', now)
  for (const key of keys) await askDelete(store, lease, key, now)
  const [approval] = await store.listApprovals({ status: 'open', limit: 1, now })
  return { lease, id: approval?.id ?? '' }
}
