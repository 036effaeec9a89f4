import { UpshotError } from '../../../../core/errors.ts'
import type { Approval } from '../../../../core/safety/approval.ts'
import type { ReadStore } from '../../../../core/store/store.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { resolveId } from '../../../open/resolve-id.ts'

type ApprovalReads = Pick<ReadStore, 'findApproval' | 'listApprovalIds'>

/** The approval with this id, or with the only id that begins so; null without one. */
export async function findApproval(store: ApprovalReads, id: string): Promise<Approval | null> {
  return resolveId(id, {
    prefix: 'apr_',
    find: (whole) => store.findApproval(whole, commandClock.now()),
    list: (beginning, limit) => store.listApprovalIds(beginning, limit),
  })
}

/** The same; throws `not_found` without one. */
export async function requireApproval(store: ApprovalReads, id: string): Promise<Approval> {
  const found = await findApproval(store, id)
  if (found) return found
  throw new UpshotError('not_found', `There is no approval ${id} in this data directory.`, {
    details: { fix: 'List what is open with "upshot approvals list".' },
  })
}
