import { newId } from '../../core/ids.ts'
import type { EventRecord } from '../../core/incoming/event.ts'
import type { ClaimedRun } from '../../core/runs/claim.ts'
import { FIRST_FENCE } from '../../core/runs/lease.ts'
import { type Checkpoint, stepNameOf } from '../../core/runs/step.ts'
import type { ReadStore } from '../../core/store/store.ts'
import type { Borrowed, RecordedRun } from '../../engine/preview/preview-run.ts'

/** Completed runs that are looked at for the result of a step. */
const LENDERS = 10

/** The run that an event would start now. It has an id of its own, and is never stored. */
export function imagineRun(event: EventRecord, workflow: string, now: number): ClaimedRun {
  return {
    lease: { runId: newId('run', now), fence: FIRST_FENCE, worker: '' },
    workflow,
    attempt: 0,
    createdAt: now,
    startedAt: now,
    isFirstPass: true,
    codeHash: null,
    isAdmitted: true,
    folded: 0,
    depth: 0,
    cause: { kind: 'event', event },
    origin: 'event',
    handler: 'run',
    originRun: null,
    failure: null,
  }
}

/**
 * The result of a step in the newest completed run of its workflow. A step of the same key comes
 * before one of the same name. Null without one.
 */
export async function borrowResult(
  store: Pick<ReadStore, 'listRuns' | 'listSteps' | 'readOutput'>,
  workflow: string,
  { key, kind, effect }: Pick<Checkpoint, 'key' | 'kind' | 'effect'>,
): Promise<Borrowed | null> {
  const runs = await store.listRuns({ workflow, status: 'completed', limit: LENDERS })
  for (const { id } of runs) {
    const steps = (await store.listSteps(id)).filter((step) => step.kind === kind && step.effect === effect)
    const finished = steps.filter(({ status }) => status === 'completed')
    const found =
      finished.find((step) => step.key === key) ?? finished.find((step) => stepNameOf(step.key) === stepNameOf(key))
    if (found) return { run: id, output: found.output ?? (await store.readOutput(id, found.key)) }
  }
  return null
}

/** The reads of the newest run of an event that has a journal, for a plan; none without one. */
export async function findRecorded(
  store: Pick<ReadStore, 'listRuns' | 'readRecordings'>,
  { id: eventId, account }: EventRecord,
  workflow: string,
): Promise<Pick<RecordedRun, 'of' | 'steps'>> {
  const runs = await store.listRuns({ eventId, account, workflow, limit: LENDERS })
  const recordings = await store.readRecordings(runs.map(({ id }) => id))
  const byId = new Map(recordings.map((each) => [each.run.id, each.steps]))
  const found = runs.find(({ id }) => (byId.get(id) ?? []).length > 0)
  const steps = found ? (byId.get(found.id) ?? []) : []
  const reads = steps.filter(({ kind, effect }) => kind === 'run' && effect === 'read')
  return { steps: reads, ...(found && { of: found.id }) }
}
