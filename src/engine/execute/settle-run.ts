import { isGated } from '../../author/read-workflow.ts'
import type { AnyWorkflow } from '../../author/workflow.ts'
import type { Notice } from '../../core/notices.ts'
import type { Tags } from '../../core/runs/annotations/tags.ts'
import { type ClaimedRun, rootOf } from '../../core/runs/claim.ts'
import { isStaleLease, type Lease } from '../../core/runs/lease.ts'
import type { RunOutcome } from '../../core/runs/run.ts'
import type { WorkerParts } from '../worker-parts.ts'

/** How a run is settled. `mayHandOn`: a run that gets its slot may be claimed. */
interface Settling {
  now: number
  workflow: AnyWorkflow | undefined
  mayHandOn: boolean
}

/**
 * Writes the outcome with one store call at most: some outcomes are in the store already. `settled`
 * is `lost` where the lease was; `next`: the run that is claimed in its place.
 */
export async function settleRun(
  store: WorkerParts['store'],
  { lease }: ClaimedRun,
  outcome: RunOutcome,
  { now, workflow, mayHandOn }: Settling,
): Promise<{ settled: RunOutcome; next?: ClaimedRun | undefined }> {
  try {
    if (outcome.kind !== 'completed') {
      await settleOther(store, lease, outcome, { now, workflow })
      return { settled: outcome }
    }
    const handsOn = (mayHandOn && workflow !== undefined && isGated(workflow)) || undefined
    return { settled: outcome, next: await store.completeRun(lease, outcome.output, now, handsOn) }
  } catch (error) {
    return { settled: asLost(error) }
  }
}

function settleOther(
  store: WorkerParts['store'],
  lease: Lease,
  outcome: Exclude<RunOutcome, { kind: 'completed' }>,
  { now, workflow }: Pick<Settling, 'now' | 'workflow'>,
): Promise<void> {
  switch (outcome.kind) {
    case 'continued':
      return store.continueRun(lease, outcome.successor, now)
    case 'failed':
      return store.failRun(lease, outcome.error, now, workflow?.onFailure !== undefined)
    case 'parked':
      return store.parkRun(lease, outcome)
    case 'retry':
      return store.postponeRun(lease, outcome)
    case 'skipped':
      return outcome.isSettled ? Promise.resolve() : store.skipRun(lease, outcome.reason, now)
    case 'planned':
      return store.endPlanned(lease, outcome, now)
    case 'expired':
      return store.cancelRun(lease.runId, outcome.reason, now).then(() => {})
    case 'released':
    // The store forgets a run with the last write of its lease, also with one that it refuses.
    case 'lost':
      return store.releaseRun(lease)
    case 'queued':
    case 'ready':
    case 'canceled':
      return Promise.resolve()
    default:
      return outcome satisfies never
  }
}

export function describeOutcome(
  run: ClaimedRun,
  outcome: RunOutcome,
  at: { now: number; steps: number; tags: Tags },
): Notice {
  const parentRun = (run.cause.kind === 'call' && run.cause.parentRun) || null
  const origin = run.originRun === null ? {} : { originRun: run.originRun }
  const about = { run: run.lease.runId, workflow: run.workflow, root: rootOf(run), parentRun, ...origin }
  const ms = at.now - run.createdAt
  const waitedMs = run.startedAt - run.createdAt
  switch (outcome.kind) {
    case 'completed':
      return { kind: 'run.completed', ...about, ms, waitedMs, steps: at.steps }
    case 'continued':
      return { kind: 'run.completed', ...about, ms, waitedMs, steps: at.steps, continuedBy: outcome.successor.run }
    case 'failed':
      return { kind: 'run.failed', ...about, ms, waitedMs, error: outcome.error, ...tagsOf(at.tags) }
    case 'parked':
      return { kind: 'run.parked', ...about, ...describePark(outcome) }
    case 'queued':
      return { kind: 'run.limited', ...about, dueAt: outcome.dueAt, reason: outcome.reason }
    case 'ready':
      return { kind: 'run.ready', ...about }
    case 'canceled':
    case 'expired':
      return { kind: 'run.canceled', ...about, ms, reason: outcome.reason }
    case 'retry':
      return { kind: 'run.retried', ...about, dueAt: outcome.dueAt, error: outcome.error }
    case 'skipped':
      return { kind: 'run.skipped', ...about, ms, reason: outcome.reason }
    case 'planned':
      return { kind: 'run.planned', ...about, ms, reason: outcome.reason }
    case 'released':
      return { kind: 'run.released', ...about }
    case 'lost':
      return { kind: 'run.lost', ...about }
    default:
      return outcome satisfies never
  }
}

function tagsOf(tags: Tags): { tags?: Tags } {
  return Object.keys(tags).length === 0 ? {} : { tags }
}

function describePark({ dueAt, reason, awaits = [], asksPeople }: Extract<RunOutcome, { kind: 'parked' }>) {
  const end = asksPeople ? 'people' : 'event'
  return { dueAt, reason, awaits: awaits.length > 0 ? end : null } as const
}

/** A stale lease is not a fault: the run was canceled or taken over. Rethrows any other error. */
export function asLost(error: unknown): RunOutcome {
  if (isStaleLease(error)) return { kind: 'lost' }
  throw error
}
