import type { Approval } from '../../../src/core/safety/approval.ts'
import type { Limit } from '../../../src/core/safety/guard.ts'
import { asOperator } from '../../../src/core/store/as-operator.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { beginDelete } from '../../contract/support/begin-delete.ts'
import { checkpoint, NOW, queueRun } from '../../support/fixtures.ts'

const setting = 'guard.workflow.deletes.perRun'
const EXPIRED = NOW + 8 * 86_400_000
const OPERATOR = { actor: 'cli:ada', role: 'owner', from: 'here', reason: 'checked' }

/** Asks for a delete that is held. */
function ask(store: Store, lease: Parameters<typeof beginDelete>[1], key: string, now: number) {
  const scope = `run/${lease.runId}`
  const limits: Limit[] = [{ scope, what: 'deletes', window: 'run', most: 0, setting, over: 'approve' }]
  const step = checkpoint(key, { effect: 'delete', target: `storage_a:${key}` })
  return beginDelete(store, lease, step, { limits, asked: { path: `/${key}`, bytes: 1, modifiedAt: null }, now })
}

/** Three runs, each of which waits for an approval of two deletes. */
export async function holdRuns(store: Store): Promise<void> {
  for (const run of ['a', 'b', 'c']) await queueRun(store, `evt_${run}`)
  for (const { lease } of await store.claimRuns('wrk_1', 3, NOW)) {
    for (const key of ['x', 'y']) await ask(store, lease, key, NOW)
  }
}

/** Approves a part of the first list, denies the second one, and lets the third one expire. */
export async function decideAll(store: Store): Promise<void> {
  const approvals = (await store.listApprovals({ limit: 9, now: NOW })).reverse()
  const people = asOperator(store, OPERATOR, { now: () => NOW })
  const word = ({ id, hash }: Approval) =>
    ({ approval: id, actor: 'ada', reason: 'checked', hash, answer: null, signature: null }) as const
  const [first, second, third] = approvals
  if (!first || !second || !third) throw new Error('three lists were held')
  await people.decideApproval({ ...word(first), verdict: 'approved', only: [{ from: 1, to: 1 }] }, NOW)
  await people.decideApproval({ ...word(second), verdict: 'denied', only: null }, NOW)
  const [item] = await store.listApprovalItems({ approval: third.id, limit: 1 })
  await ask(store, { runId: item?.runId ?? '', worker: 'wrk_1', fence: 1 }, 'x', EXPIRED)
}

/** A line for each approval, sorted: its status, the rows that tell of its end, and its items. */
export async function readDecided(store: Store): Promise<string[]> {
  const rows = await store.listEffects({ phases: ['decided'], limit: 99 })
  const actions = await store.listActions({ action: 'approval.*', limit: 99 })
  const ends = await store.listEvents({ type: 'upshot.approval.closed', limit: 99 })
  const found = await store.listApprovals({ limit: 9, now: NOW })
  const lines = found.map(async ({ id, status, votes }) => {
    const words = rows.filter(({ approval }) => approval === id).length
    const audited = actions.filter(({ target }) => target === id).length
    const ended = ends.filter(({ body }) => body.includes(id)).length
    const items = await store.listApprovalItems({ approval: id, limit: 9 })
    const counts = `${votes.length} votes, ${words} words, ${audited} actions, ${ended} ends`
    return `${status}: ${counts}; ${items.map(({ state }) => state).join(', ')}`
  })
  return (await Promise.all(lines)).sort()
}
