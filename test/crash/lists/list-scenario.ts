import type { Lease } from '../../../src/core/runs/lease.ts'
import type { EffectPermit } from '../../../src/core/safety/effect.ts'
import type { Limit } from '../../../src/core/safety/guard.ts'
import { asOperator } from '../../../src/core/store/as-operator.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { askInParts } from '../../../src/engine/steps/guard/ask-in-parts.ts'
import { MAX_CARRIED } from '../../../src/store/tables/approvals/approval-search.ts'
import { deleteAsk } from '../../contract/support/begin-delete.ts'
import { checkpoint, NOW } from '../../support/fixtures.ts'

/** Deletes of each list: several parts, and two commits that tell of a decision. */
export const SIZE = MAX_CARRIED + 10
/** Deletes of the held list that a person approves. */
export const APPROVED = MAX_CARRIED + 5

const OPTIONS = { now: NOW, expiresAt: NOW + 86_400_000, needs: 1 }
/** The person who acts in these tests. */
export const OPERATOR = { actor: 'cli:ada', role: 'owner', from: 'here', reason: 'checked' }

/** Asks for a list of `size` deletes, of which `most` may begin a day. */
export function askForList(
  store: Store,
  lease: Lease,
  name: string,
  most: number,
  size = SIZE,
): Promise<EffectPermit[]> {
  const setting = 'guard.all.deletes.perDay'
  const limits: Limit[] = [{ scope: name, what: 'deletes', window: 'day', most, setting, over: 'approve' }]
  const asks = Array.from({ length: size }, (_, n) => {
    const asked = { path: `/${name}${n}`, bytes: 1, modifiedAt: null }
    return deleteAsk(checkpoint(`${name}${n}`, { target: `storage_a:${name}${n}` }), { limits, asked })
  })
  const journal = {
    takeList: () => 0,
    beginEffects: () => Promise.reject(new Error('a long list is not one commit')),
    beginPart: (some: typeof asks, part: Parameters<Store['beginPart']>[2]) =>
      store.beginPart(lease, some, part, OPTIONS),
    reserveEffects: (
      ...[list, shares]: [Parameters<Store['reserveEffects']>[1], Parameters<Store['reserveEffects']>[2]]
    ) => store.reserveEffects(lease, list, shares, OPTIONS),
  }
  return askInParts(journal as never, lease.runId, { asks, options: OPTIONS })
}

/** Begins one list, has another one held, and approves a part of that. */
export async function workAll(store: Store, [free, held]: Lease[]): Promise<void> {
  if (!free || !held) throw new Error('both runs are claimed')
  await askForList(store, free, 'free', SIZE)
  await askForList(store, held, 'held', 0)
  const [approval] = await store.listApprovals({ status: 'open', limit: 1, now: NOW })
  if (!approval) throw new Error('the second list was held')
  const word = { approval: approval.id, actor: 'ada', reason: null, hash: approval.hash, answer: null, signature: null }
  const only = [{ from: 1, to: APPROVED }]
  await asOperator(store, OPERATOR, { now: () => NOW }).decideApproval({ ...word, verdict: 'approved', only }, NOW)
}
