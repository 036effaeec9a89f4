import { chainHash, seedHash } from '../../safety/approval.ts'
import type { PlannedRun } from './approvals.ts'

/** The hash of the whole list of a plan, which the person names who starts its run. */
export function hashPlanned(planned: PlannedRun): string {
  const { approval: id, event, workflow, why, needs, expiresAt, items, run: runId } = planned
  const about = { id, kind: 'guard', workflow, account: event.account } as const
  const seed = seedHash({ ...about, why, needs, role: null, question: null, expiresAt })
  return items.reduce((before, item) => chainHash(before, { ...item, runId }), seed)
}
