import { type ApprovalItem, chainHash, seedHash } from '../safety/approval.ts'

/** A run that may do what a plan foresaw. */
export interface PlannedRun {
  event: { id: string; account: string }
  workflow: string
  /** Ids of the new run and of its approval. */
  run: string
  approval: string
  /** The list in words, as an approval shows its limit. */
  why: string
  /** Effects in the order of the plan. Without any, the run has no approval. */
  items: readonly Pick<ApprovalItem, 'step' | 'target' | 'asked'>[]
  needs: number
  /** When the approval expires, where more people have to agree; epoch milliseconds. */
  expiresAt: number
}

/** The hash of the whole list of a plan, which the person names who starts its run. */
export function hashPlanned(planned: PlannedRun): string {
  const { approval: id, event, workflow, why, needs, expiresAt, items, run: runId } = planned
  const about = { id, kind: 'guard', workflow, account: event.account } as const
  const seed = seedHash({ ...about, why, needs, role: null, question: null, expiresAt })
  return items.reduce((before, item) => chainHash(before, { ...item, runId }), seed)
}
