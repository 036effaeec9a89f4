import { UpshotError } from '../../../../core/errors.ts'
import type { Approval } from '../../../../core/safety/approval.ts'
import type { ReadStore } from '../../../../core/store/store.ts'
import { systemClock } from '../../../../core/time.ts'

/** The approval with this id; throws `not_found`. */
export async function requireApproval(store: ReadStore, id: string): Promise<Approval> {
  const found = await store.findApproval(id, systemClock.now())
  if (found) return found
  throw new UpshotError('not_found', `There is no approval ${id} in this data directory.`, {
    details: { fix: 'List what is open with "upshot approvals list".' },
  })
}
