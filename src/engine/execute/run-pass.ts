import { isDeepStrictEqual } from 'node:util'
import type { AnyWorkflow } from '../../author/workflow.ts'
import { describeError } from '../../core/errors.ts'
import type { RunOutcome } from '../../core/runs/run.ts'
import { type AdmissionParts, admitRun } from '../admit/admit-run.ts'
import type { AdmissionFacts } from '../admit/plan-admission.ts'
import { computeDeadline, describeOverdue } from '../pass/deadline.ts'
import { aboutRun, type Pass } from '../pass/pass.ts'
import type { WorkerParts } from '../worker-parts.ts'
import { executeRun, goOnWithRun } from './execute-run.ts'
import { openPass } from './open-pass.ts'
import { asLost } from './settle-run.ts'

/** A run whose module is missing checks again after this long. */
const MISSING_MODULE_MS = 60_000
/**
 * Step results up to this size are read with the journal, larger ones when their step is reached.
 */
const READ_AHEAD_BYTES = 4_096

/** How a worker claimed a run, as far as admission needs it. */
export type Claim = Pick<AdmissionFacts, 'hasSlot' | 'isQueueEmpty'>

interface PassRequest extends Pick<Pass, 'run' | 'matcher' | 'parking' | 'abort'>, Pick<AdmissionParts, 'cancelOther'> {
  /** Undefined: no module defines it. */
  workflow: AnyWorkflow | undefined
  claim: Claim
  /** An earlier pass of the run, whose code waits in memory. */
  kept?: Pass | undefined
}

/** One pass from admission to its outcome; `pass`: where the run's code was called. */
export async function runPass(
  parts: WorkerParts,
  { run, workflow, claim, cancelOther, kept, ...control }: PassRequest,
): Promise<{ outcome: RunOutcome; pass?: Pass }> {
  const { store, clock, filesFor } = parts
  const known = run.isFirstPass || kept ? [] : await store.listSteps(run.lease.runId, READ_AHEAD_BYTES)
  const hasStarted = kept !== undefined || run.attempt > 0 || known.length > 0
  if (!workflow) {
    const reason = `no module defines the workflow "${run.workflow}"`
    const dueAt = clock.now() + MISSING_MODULE_MS
    return { outcome: { kind: 'parked', dueAt, reason, hasNotStarted: !hasStarted } }
  }
  const deadline = computeDeadline(workflow, run.startedAt)
  if (deadline !== null && hasStarted && clock.now() >= deadline) {
    return { outcome: { kind: 'failed', error: describeError(describeOverdue(deadline)) } }
  }
  const facts = { createdAt: run.createdAt, deadline, hasStarted, ...claim }
  const admission = await admitRun({ ...parts, cancelOther }, run, workflow, facts).catch(asLost)
  if (admission.kind !== 'admitted') return { outcome: admission }

  const { cause, startedAt } = admission
  const { spellings } = admission.facts
  const execution = { workflow, cause, filesFor }
  if (kept) {
    // Its code was given names that are others now. The next pass begins anew.
    if (!isDeepStrictEqual(kept.spellings, spellings)) return { outcome: { kind: 'released' } }
    return { outcome: await goOnWithRun(kept, execution), pass: kept }
  }
  const pass = openPass(parts, { run, workflow, known, startedAt, spellings, ...control })
  if (!hasStarted) publishStart(pass)
  return { outcome: await executeRun(pass, execution), pass }
}

function publishStart(pass: Pass): void {
  const { run, clock, publish } = pass
  const origin = run.cause.kind === 'call' && run.origin === 'event' ? 'invoke' : run.origin
  publish({ kind: 'run.started', ...aboutRun(pass), origin, waitedMs: clock.now() - run.createdAt })
}
