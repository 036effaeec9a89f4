import type { Lease } from '../../../src/core/runs/lease.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { checkpoint, NOW, queueRun } from '../../support/fixtures.ts'
import { beginDelete } from './begin-delete.ts'
import { claimNext } from './claim-next.ts'

let runs = 0

/** Deletes files of these names in a new run: two ledger rows for each. */
export async function deleteFiles(store: Store, names: readonly string[], now = NOW): Promise<Lease> {
  await queueRun(store, `evt_delete_${++runs}`)
  const { lease } = await claimNext(store, NOW)
  for (const [position, name] of names.entries()) {
    const step = checkpoint(name, { effect: 'delete', target: `storage_a:${name}`, position })
    const asked = { path: `/${name}`, bytes: 100, modifiedAt: '2026-01-01T00:00:00Z' }
    await beginDelete(store, lease, step, { asked, now })
    const before = JSON.stringify({ ...asked, sha256: 'ab'.repeat(32) })
    const output = JSON.stringify({ outcome: 'deleted', proof: 'reply' })
    await store.saveCheckpoint(lease, { ...step, output }, undefined, { effect: { input: null, before } })
  }
  return lease
}
