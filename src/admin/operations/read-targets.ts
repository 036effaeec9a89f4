import type { EventRecord } from '../../core/incoming/event.ts'
import { findObstacle, type Run } from '../../core/runs/run.ts'
import { type BulkPlan, findReplayObstacle, narrowFilter, planReplay } from '../../core/safety/bulk.ts'
import type { SearchSlice } from '../../core/store/search.ts'
import type { ReadStore } from '../../core/store/store.ts'

/** A run or an event of an operation. */
export interface Target {
  id: string
  /** As `performBulk` takes it. */
  target: string
  /** Why the operation does not fit it; null: it does. */
  why: string | null
  /** Workflows of which it makes new runs. */
  workflows: string[]
  of: Run | EventRecord
}

export interface TargetPart {
  targets: Target[]
  /** Position of the next slice; null: nothing is left. */
  next: string | null
}

/** One slice of what an operation is about, in its order: the newest runs, or the oldest events. */
export async function readTargets(
  store: Pick<ReadStore, 'searchRuns' | 'walkEvents'>,
  plan: BulkPlan,
  slice: SearchSlice,
  now: number,
): Promise<TargetPart> {
  if (plan.kind === 'replay') {
    const { items, next } = await store.walkEvents(plan.filter, slice)
    const targets = items.flatMap((event): Target[] => {
      const workflows = planReplay(event, plan)
      const { id, seq } = event
      if (workflows.length === 0) return []
      return [{ id, target: String(seq), why: findReplayObstacle(event), workflows, of: event }]
    })
    return { targets, next }
  }
  const { items, next } = await store.searchRuns(narrowFilter(plan), slice)
  const targets = items.map((run): Target => {
    return { id: run.id, target: run.id, why: findObstacle(plan.kind, run, now), workflows: [], of: run }
  })
  return { targets, next }
}
