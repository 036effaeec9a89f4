import { isGated, isLimited } from '../../author/read-workflow.ts'
import type { AnyWorkflow } from '../../author/workflow.ts'
import { describeError } from '../../core/errors.ts'
import type { AdmissionPlan } from '../../core/runs/admission.ts'
import type { ClaimedRun } from '../../core/runs/claim.ts'
import type { RunOutcome } from '../../core/runs/run.ts'
import { isThenable } from '../../core/thenable.ts'
import type { WorkerParts } from '../worker-parts.ts'
import { callAuthor } from './call-author.ts'
import { type EventFacts, gatherBatchFacts, gatherEventFacts } from './gather-event-facts.ts'
import { type AdmissionFacts, planAdmission } from './plan-admission.ts'
import { type PlannedTags, planTags } from './plan-tags.ts'
import { type Cause, readCause, readStoredEvent } from './read-cause.ts'

/** Reason of a run that the code of its workflow does not want. */
export const NOT_WANTED = 'its `where` returned false'

export type AdmissionStore = Pick<WorkerParts['store'], 'listDeletes' | 'listRunEvents' | 'hasNewerFolded' | 'admitRun'>

export interface AdmissionParts extends Pick<WorkerParts, 'clock' | 'spellingsOf' | 'findMadeUp'> {
  store: AdmissionStore
  /** Ends this worker's pass of a run that a singleton canceled, and publishes that. */
  cancelOther: (runId: string, reason: string) => void
}

/** Admitted, or the outcome of a run that may not start now. */
type Admission =
  | { kind: 'admitted'; cause: Cause; facts: EventFacts; startedAt: number; tags: PlannedTags }
  | Extract<RunOutcome, { kind: 'skipped' | 'parked' | 'queued' | 'ready' | 'canceled' }>

/**
 * Decides whether a claimed run may go on; only a workflow with limits needs the store for it. A
 * filter or key that throws parks the run for a person.
 */
export async function admitRun(
  parts: AdmissionParts,
  run: ClaimedRun,
  workflow: AnyWorkflow,
  known: AdmissionFacts,
): Promise<Admission> {
  const facts = await gatherEventFacts(run, parts)
  if ('kind' in facts) return facts
  const cause = attempt(() => readCause(run, workflow, facts))
  if ('kind' in cause) return cause
  const madeUp = await findMadeUp(parts, run, known)
  if (madeUp !== null) return { kind: 'skipped', reason: `made up for by ${madeUp}` }
  // `onFailure` belongs to a run that was admitted: neither filter nor limits apply to it.
  const isFirstHand = run.handler === 'run'
  // Nor does a changed filter end a run half-way.
  const wanted = attempt(() => ({ isWanted: !isFirstHand || known.isUnderWay || isWanted(workflow, cause) }))
  if ('kind' in wanted) return wanted
  if (!wanted.isWanted) return { kind: 'skipped', reason: NOT_WANTED }
  const planned = attempt(() => planTags(run, workflow, cause))
  if ('kind' in planned) return planned
  // Tags that its admission does not write are journaled with its next step.
  const isWritten = isFirstHand && !run.isAdmitted && !known.hasStarted
  const tags = isWritten ? { known: { ...planned.known, ...planned.more }, more: {} } : planned
  const goOn = (startedAt: number, folded: number) =>
    join(parts, run, workflow, { cause, facts, tags, startedAt, folded }, known)
  const isOnlyTagged = !isLimited(workflow)
  const isPast = run.isAdmitted || (isOnlyTagged && known.hasStarted)
  if (isPast || !isFirstHand || !isGated(workflow)) return goOn(run.startedAt, run.folded)

  const plan = attempt((): AdmissionPlan => {
    const limits = planAdmission(workflow, cause, run.cause.kind, known)
    return {
      ...limits,
      ...(isWritten && workflow.tags && { tags: planned.more }),
      ...(isOnlyTagged && { isOnlyTagged }),
    }
  })
  if ('kind' in plan) return plan
  const { verdict, canceled } = await parts.store.admitRun(run.lease, plan, parts.clock.now())
  for (const other of canceled) parts.cancelOther(other, `singleton: replaced by ${run.lease.runId}`)
  switch (verdict.kind) {
    case 'admitted':
      return goOn(verdict.startedAt, verdict.folded)
    case 'skipped':
      return { ...verdict, isSettled: true }
    case 'queued':
    case 'ready':
    case 'canceled':
      return verdict
    default:
      return verdict satisfies never
  }
}

/** The event that was made up for a late one, whose runs have done this one's work. */
async function findMadeUp(
  parts: Pick<AdmissionParts, 'findMadeUp'>,
  { cause, handler, isAdmitted }: ClaimedRun,
  { hasStarted }: AdmissionFacts,
): Promise<string | null> {
  if (cause.kind !== 'event' || handler !== 'run' || isAdmitted || hasStarted) return null
  return (await parts.findMadeUp?.(cause.event)) ?? null
}

type Parked = Extract<RunOutcome, { kind: 'parked' }>

function parkForPerson(reason: string): Parked {
  return { kind: 'parked', dueAt: null, reason }
}

function attempt<T>(read: () => T): T | Parked {
  try {
    return read()
  } catch (error) {
    return parkForPerson(describeError(error).message)
  }
}

/** Throws what `where` throws, and where it returns a promise. */
export function isWanted({ where }: AnyWorkflow, cause: Cause): boolean {
  if (!where || !('event' in cause)) return true
  const isWanted: unknown = callAuthor('its `where`', () => where(cause.event as never))
  if (isThenable(isWanted)) throw new Error('its `where` returned a promise; it must be synchronous')
  return Boolean(isWanted)
}

type Joined = { cause: Cause; facts: EventFacts; tags: PlannedTags; startedAt: number }

/** Adds the events of the runs that were folded into this one. */
async function join(
  parts: AdmissionParts,
  run: ClaimedRun,
  workflow: AnyWorkflow,
  { folded, ...joined }: Joined & { folded: number },
  { hasStarted }: AdmissionFacts,
): Promise<Admission> {
  const { cause } = joined
  if (workflow.debounce && 'event' in cause) {
    const isBatch = folded > 0 && !hasStarted && (await parts.store.hasNewerFolded(run.lease.runId))
    if (!isBatch) return { kind: 'admitted', ...joined, cause: { ...cause, folded } }
    return parkForPerson(`${folded} other runs were folded into it for a batch, but its workflow has debounce now`)
  }
  if (workflow.batch && 'event' in cause) return joinBatch(parts, run, workflow, { folded, ...joined })
  if (folded === 0) return { kind: 'admitted', ...joined }
  return parkForPerson(`${folded} other runs were folded into it, but its workflow has neither batch nor debounce now`)
}

async function joinBatch(
  parts: AdmissionParts,
  run: ClaimedRun,
  workflow: AnyWorkflow,
  { folded, ...joined }: Joined & { folded: number },
): Promise<Admission> {
  const { account, ...cause } = joined.cause
  if (run.cause.kind !== 'event') {
    return { kind: 'admitted', ...joined, cause: { account, events: 'event' in cause ? [cause.event] : [] } }
  }
  // A run that gathered nothing has its own event alone, and that of a plan is in no store.
  const records = folded === 0 ? [run.cause.event] : await parts.store.listRunEvents(run.lease.runId)
  const missing = folded + 1 - records.length
  if (missing > 0) return parkForPerson(`${missing} of its events are pruned`)
  const facts = await gatherBatchFacts(account, records, parts)
  if ('kind' in facts) return facts
  const events = []
  for (const [record, known] of facts) {
    const event = attempt(() => readStoredEvent(record, workflow, known))
    if ('kind' in event) return event
    events.push(event)
  }
  return { kind: 'admitted', ...joined, cause: { account, events } }
}
