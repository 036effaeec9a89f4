import { isDeepStrictEqual } from 'node:util'
import { scheduleOf, startsOn } from '../../author/read-workflow.ts'
import type { AnyWorkflow } from '../../author/workflow.ts'
import { describeError } from '../../core/errors.ts'
import { type ClaimedRun, type RunCause, rootOf } from '../../core/runs/claim.ts'
import { MADE_TO_ACT_REASON, NO_MODULE_REASON, RECHECK_MS, type RunOutcome } from '../../core/runs/run.ts'
import { type AdmissionParts, admitRun } from '../admit/admit-run.ts'
import type { AdmissionFacts } from '../admit/plan-admission.ts'
import { computeDeadline, describeExpired, describeOverdue } from '../pass/deadline.ts'
import { packOutput } from '../pass/pack-output.ts'
import { aboutRun, type Pass } from '../pass/pass.ts'
import type { Planner, WorkerParts } from '../worker-parts.ts'
import { executeRun, goOnWithRun } from './execute-run.ts'
import { openPass } from './open-pass.ts'
import { asLost } from './settle-run.ts'

/**
 * Step results up to this size are read with the journal, larger ones when their step is reached.
 */
const READ_AHEAD_BYTES = 4_096

/** How a worker claimed a run, as far as admission needs it. `at`: the moment of the claim. */
export type Claim = Pick<AdmissionFacts, 'hasSlot' | 'isQueueEmpty'> & { at: number }

interface PassRequest extends Pick<Pass, 'run' | 'matcher' | 'parking' | 'abort'>, Pick<AdmissionParts, 'cancelOther'> {
  /** Undefined: no module defines it. */
  workflow: AnyWorkflow | undefined
  claim: Claim
  /** An earlier pass of the run, whose code waits in memory. */
  cached?: Pass | undefined
  /** Called before the run's code is. */
  opened?: (pass: Pass) => void
}

/** One pass from admission to its outcome; `pass`: where the run's code was called. */
export async function runPass(
  parts: WorkerParts,
  { run, workflow, claim, cancelOther, cached, ...control }: PassRequest,
): Promise<{ outcome: RunOutcome; pass?: Pass }> {
  const { store, clock, filesFor } = parts
  if (run.endsBy !== undefined && clock.now() >= run.endsBy) return { outcome: describeExpired(run) }
  const known =
    run.isFirstPass || cached ? [] : (run.steps ?? (await store.listSteps(run.lease.runId, READ_AHEAD_BYTES)))
  const hasStarted = cached !== undefined || run.attempt > 0 || known.length > 0
  // A run that was cut off in its first step has begun, and left no row.
  const hasNotStarted = !hasStarted && run.startedAt >= claim.at
  if (!workflow || !takes(workflow, run, hasStarted)) {
    const dueAt = clock.now() + RECHECK_MS
    return { outcome: { kind: 'parked', dueAt, reason: describeNoCode(run, workflow !== undefined), hasNotStarted } }
  }
  const { planner } = parts
  const planned = planner?.isPlanned(run) ?? false
  const isPlanned = typeof planned === 'boolean' ? planned : await planned
  if (planner && !planner.acts && !isPlanned) {
    const dueAt = clock.now() + RECHECK_MS
    return { outcome: { kind: 'parked', dueAt, reason: MADE_TO_ACT_REASON, hasNotStarted } }
  }
  const deadline = computeDeadline(workflow, run)
  if (deadline !== null && hasStarted && clock.now() >= deadline) {
    return { outcome: { kind: 'failed', error: describeError(describeOverdue(deadline)) } }
  }
  const facts = { createdAt: run.createdAt, deadline, hasStarted, isUnderWay: hasStarted, ...claim }
  const admission = await admitRun({ ...parts, cancelOther }, run, workflow, facts).catch(asLost)
  if (admission.kind === 'parked') return { outcome: { ...admission, hasNotStarted } }
  if (admission.kind !== 'admitted') return { outcome: admission }
  if (planner && isPlanned) return { outcome: await planRun(parts, { run, planner, parking: control.parking }) }

  const { cause, startedAt, tags } = admission
  const { spellings } = admission.facts
  const execution = { workflow, cause, filesFor }
  if (cached) {
    // Its code was given names that are others now. The next pass begins anew.
    if (!isDeepStrictEqual(cached.spellings, spellings)) return { outcome: { kind: 'released' } }
    return { outcome: await goOnWithRun(cached, execution), pass: cached }
  }
  const pass = openPass(parts, { run, workflow, known, startedAt, spellings, tags, ...control })
  control.opened?.(pass)
  if (!hasStarted) publishStart(pass)
  return { outcome: await executeRun(pass, execution), pass }
}

/** False for a cause that this code does not start on: other code made the run. */
function takes(workflow: AnyWorkflow, { cause, handler }: ClaimedRun, hasStarted: boolean): boolean {
  if (hasStarted || handler !== 'run') return true
  if (cause.kind === 'event') return startsOn(workflow, cause.event.type)
  return (cause.kind === 'tick') === (scheduleOf(workflow) !== null)
}

/** Why a run waits for its module, or for other code of it where one `isLoaded`. */
export function describeNoCode({ workflow, cause }: ClaimedRun, isLoaded: boolean): string {
  return `${NO_MODULE_REASON} "${workflow}"${isLoaded ? ` for ${describeCause(cause)}` : ''}`
}

export function describeCause(cause: RunCause): string {
  return cause.kind === 'event' ? cause.event.type : cause.kind === 'tick' ? 'a cron line' : 'an input'
}

function publishStart(pass: Pick<Pass, 'run' | 'root' | 'clock' | 'publish'>): void {
  const { run, clock, publish } = pass
  const origin = run.cause.kind === 'call' && run.origin === 'event' ? 'invoke' : run.origin
  publish({ kind: 'run.started', ...aboutRun(pass), origin, waitedMs: clock.now() - run.createdAt })
}

/** Plans a run in place of its code. A plan that is cut short is given up: it has done nothing. */
async function planRun(
  { store, clock, publish }: Pick<WorkerParts, 'store' | 'clock' | 'publish'>,
  { run, planner, parking }: Pick<PassRequest, 'run' | 'parking'> & { planner: Planner },
): Promise<RunOutcome> {
  publishStart({ run, root: rootOf(run), clock, publish })
  const found = await Promise.race([planner.plan(run), parking.ended])
  if ('kind' in found) return found.kind === 'broken' ? Promise.reject(found.error) : found
  const { reason, json } = found
  return { kind: 'planned', reason, plan: (await packOutput(store, 'The plan', json)) ?? json }
}
