import type { Lease } from '../../../src/core/runs/lease.ts'
import type { Decision, DecisionResult } from '../../../src/core/safety/approval.ts'
import type { Limit } from '../../../src/core/safety/guard.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { MAX_CARRIED } from '../../../src/store/tables/approvals/approval-search.ts'
import { checkpoint, NOW, queueRun } from '../../support/fixtures.ts'
import { deleteAsk } from './begin-delete.ts'
import { claimNext } from './claim-next.ts'

/** Deletes of a list, which three commits tell of a decision. */
export const SIZE = 2 * MAX_CARRIED + 10
export const OPTIONS = { now: NOW, expiresAt: NOW + 86_400_000, needs: 1 }
const setting = 'guard.workflow.deletes.perRun'

/** Holds a list of one run, whose steps are d1, d2 and so on, as its items are numbered. */
export async function hold(store: Store, event = 'evt_1'): Promise<{ lease: Lease; approval: string; hash: string }> {
  await queueRun(store, event)
  const { lease } = await claimNext(store)
  await ask(store, lease, 1, SIZE)
  const [approval] = await store.listApprovals({ limit: 9, now: NOW })
  await store.parkRun(lease, { dueAt: null, reason: 'waits', awaits: ['d1'] })
  return { lease, approval: approval?.id ?? '', hash: approval?.hash ?? '' }
}

export async function ask(
  store: Store,
  lease: Lease,
  from: number,
  to: number,
  most = 0,
  now = NOW,
): Promise<string[]> {
  const limit: Limit = { scope: 'all', what: 'deletes', window: 'run', most, setting, over: 'approve' }
  const asks = Array.from({ length: to - from + 1 }, (_, index) => {
    const key = `d${from + index}`
    const asked = { path: `/${key}`, bytes: 1, modifiedAt: null }
    return deleteAsk(checkpoint(key, { target: `storage_a:${key}` }), { limits: [limit], asked })
  })
  return (await store.beginEffects(lease, asks, { ...OPTIONS, now })).map(({ kind }) => kind)
}

export function decide(
  store: Store,
  approval: string,
  hash: string,
  part: Partial<Decision> = {},
): Promise<DecisionResult> {
  const word = {
    approval,
    hash,
    verdict: 'approved',
    actor: 'anna',
    reason: null,
    answer: null,
    signature: null,
  } as const
  return store.decideApproval({ ...word, only: null, ...part }, NOW)
}

/** Carries everything out; returns the number of commits that it took. */
export async function carryAll(store: Store): Promise<number> {
  for (let commits = 0; ; commits++) if ((await store.carryOutDecision(NOW)) === null) return commits
}

/** The states of a list's items, each with how often it comes. */
export async function statesOf(store: Store, approval: string): Promise<Record<string, number>> {
  const items = await store.listApprovalItems({ approval, limit: 10 * SIZE })
  return Object.fromEntries(
    Object.entries(Object.groupBy(items, ({ state }) => state)).map(([k, v]) => [k, v?.length ?? 0]),
  )
}
