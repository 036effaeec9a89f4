import type { AnyWorkflow } from '../../author/workflow.ts'
import { describeError } from '../../core/errors.ts'
import type { ClaimedRun } from '../../core/runs/claim.ts'
import type { RunOutcome } from '../../core/runs/run.ts'
import type { Store } from '../../core/store/store.ts'
import { type AdmissionParts, admitRun } from '../admit/admit-run.ts'
import type { SpellingsOf } from '../admit/gather-event-facts.ts'
import type { AdmissionFacts } from '../admit/plan-admission.ts'
import { computeDeadline, describeOverdue } from '../pass/deadline.ts'
import type { Journal } from '../pass/journal.ts'
import type { Pass, PassStore } from '../pass/pass.ts'
import { executeRun } from './execute-run.ts'
import { openPass } from './open-pass.ts'
import type { FilesFor } from './run-context.ts'
import { asLost } from './settle-run.ts'

/** A run without its module is looked at again after this long, in case the module comes back. */
const MISSING_MODULE_MS = 60_000
/**
 * Results up to this size are read ahead; larger ones when their step is reached, so that they are
 * not all in memory.
 */
const READ_AHEAD_BYTES = 4_096

/** How a run came into a worker's hands. */
export type Claim = Pick<AdmissionFacts, 'hasSlot' | 'isAlone'>

/** What every pass of a worker uses. */
export type PassParts = Pick<Pass, 'matcher' | 'routes' | 'clock' | 'random' | 'publish'> & {
  store: AdmissionParts['store'] & PassStore & Pick<Store, 'listSteps' | 'saveCheckpoint'>
  filesFor: FilesFor
  spellingsOf?: SpellingsOf
}

export interface BegunPass extends Pick<Pass, 'parking' | 'abort'>, Pick<AdmissionParts, 'cancelOther'> {
  run: ClaimedRun
  workflow: AnyWorkflow | undefined
  claim: Claim
}

/** One pass from its facts to its outcome, with the journal where the run's code was called. */
export async function runPass(
  parts: PassParts,
  { run, workflow, claim, cancelOther, ...control }: BegunPass,
): Promise<{ outcome: RunOutcome; journal?: Journal }> {
  const { store, clock, filesFor, spellingsOf = () => ({}) } = parts
  const known = run.isFirstPass ? [] : await store.listSteps(run.lease.runId, READ_AHEAD_BYTES)
  const hasStarted = run.attempt > 0 || known.length > 0
  if (!workflow) {
    const reason = `no module defines the workflow "${run.workflow}"`
    const dueAt = clock.now() + MISSING_MODULE_MS
    return { outcome: { kind: 'parked', dueAt, reason, hasNotStarted: !hasStarted } }
  }
  const deadline = computeDeadline(workflow, run.startedAt)
  if (deadline !== null && hasStarted && clock.now() >= deadline) {
    return { outcome: { kind: 'failed', error: describeError(describeOverdue(deadline)) } }
  }
  const asked = { createdAt: run.createdAt, deadline, hasStarted, ...claim }
  const admission = await admitRun({ store, clock, spellingsOf, cancelOther }, run, workflow, asked).catch(asLost)
  if (admission.kind !== 'admitted') return { outcome: admission }

  const { cause, facts, startedAt } = admission
  const pass = openPass(parts, { run, workflow, known, startedAt, spellings: facts.spellings, ...control })
  return { outcome: await executeRun(pass, { workflow, cause, filesFor }), journal: pass.journal }
}
