import type { AnyWorkflow } from '../../author/workflow.ts'
import { accountOf, type ClaimedRun, rootOf } from '../../core/runs/claim.ts'
import type { Checkpoint } from '../../core/runs/step.ts'
import { LINK, MAX_DEPTH } from '../../core/runs/wait.ts'
import { readWorkflowGuard } from '../../core/safety/guard-schema.ts'
import type { GuardUse } from '../../core/store/effects.ts'
import { type AnswerRules, completeWith } from '../../engine/preview/compose-answers.ts'
import { findHeld, type HeldEffect } from '../../engine/preview/find-held.ts'
import type { Answer, AnswerStep } from '../../engine/preview/first-answer.ts'
import { previewJournal } from '../../engine/preview/preview-journal.ts'
import type { PreviewParts } from '../../engine/preview/preview-pass.ts'
import type { PreviewControl } from '../../engine/preview/preview-run.ts'
import { type RecordedRun, type ReplayedRecording, replayRecorded } from '../../engine/preview/replay-recorded.ts'
import { PlannedFiles, type ReadFiles } from './planned-files.ts'

/** A run to preview; twice, to see whether it is steady. */
export interface PreviewJob extends RecordedRun {
  isTwice?: boolean
}

export interface PreviewRules extends AnswerRules {
  /**
   * As plans: the runs that they invoke are previewed too, and the guard is asked. Default: not.
   */
  plans?: {
    /** The counters of the guard now. */
    use: readonly GuardUse[]
    /** False: the result of another run's step ends the plan. */
    borrows: boolean
  }
  /** Up to the end of their journals, as a pass at this moment. Default: to their own end. */
  journalAt?: number
}

/** A previewed run, with the effects that the guard would hold. */
export interface PreviewedRun extends ReplayedRecording {
  held: HeldEffect[]
}

/** The result of another run's step. */
export interface Borrowed {
  output: string
  run: string
}

interface PreviewWorld {
  parts: Omit<PreviewParts, 'filesFor'>
  findWorkflow: (id: string) => AnyWorkflow | undefined
  readFiles: ReadFiles
  /** Hears the id of each run that is invoked. */
  onInvoked: (run: string) => void
  borrow: (workflow: string, step: Pick<Checkpoint, 'key' | 'kind' | 'effect'>) => Promise<Borrowed | null>
}

/** Each delete that has begun takes about 7 KB until it ends. */
const DELETES_AT_ONCE = 200

/** Previews a run of a workflow, and no effect. */
export async function previewJob(
  world: PreviewWorld,
  workflow: AnyWorkflow,
  job: RecordedRun,
  rules: PreviewRules,
): Promise<PreviewedRun> {
  const { plans, journalAt } = rules
  // A recording says in which order its steps began, and a long list takes much memory at once.
  const files = new PlannedFiles(world.readFiles, job.steps.length === 0 ? { deletesAtOnce: DELETES_AT_ONCE } : {})
  const parts: PreviewParts = { ...world.parts, filesFor: (account, wrap) => files.filesFor(account, wrap) }
  if (journalAt !== undefined) {
    return { ...(await previewJournal(parts, workflow, job, journalAt)), unstarted: null, held: [] }
  }
  const previewed = await preview({ world, parts, files, rules }, workflow, job)
  const source = { runId: job.claim.lease.runId, workflow: workflow.id, account: accountOf(job.claim.cause) }
  const own = readWorkflowGuard(workflow)
  const held = plans ? findHeld(previewed.effects, { limits: parts.guard.limits, own, source, use: plans.use }) : []
  return { ...previewed, held }
}

interface Previewing {
  world: PreviewWorld
  parts: PreviewParts
  files: PlannedFiles
  rules: PreviewRules
}

function preview(previewing: Previewing, workflow: AnyWorkflow, job: RecordedRun): Promise<ReplayedRecording> {
  const { parts, files, rules } = previewing
  const more = (control: PreviewControl) => ({
    before: previewInvoked(previewing, job.claim, control),
    after: borrowResult(previewing, job.claim, control),
  })
  return replayRecorded(parts, workflow, job, { rules, files, ...(rules.plans && { more }) })
}

/** The result of another run. That of a read or a delete is about another file, or another day. */
function borrowResult({ world, rules }: Previewing, { workflow }: ClaimedRun, { now }: PreviewControl): AnswerStep {
  return async ({ key, kind, effect }) => {
    const isOfFiles = effect === 'read' || effect === 'delete'
    if (kind !== 'run' || !rules.plans?.borrows || (isOfFiles && !rules.readsLive)) return null
    const found = await world.borrow(workflow, { key, kind, effect })
    return found && { source: 'borrowed', from: found.run, outcome: completeWith(found.output, now()) }
  }
}

/** Previews the run that a step invokes. Where the end of that is open, so is the step. */
function previewInvoked(previewing: Previewing, claim: ClaimedRun, control: PreviewControl): AnswerStep {
  return async (step, { invoke }): Promise<Answer | null> => {
    const { world } = previewing
    const workflow = invoke && world.findWorkflow(invoke.workflow)
    if (!invoke || !workflow || claim.depth + LINK > MAX_DEPTH) return null
    const { run, account, input, createdAt } = invoke
    world.onInvoked(run)
    const child: ClaimedRun = {
      ...claim,
      lease: { ...claim.lease, runId: run },
      workflow: workflow.id,
      createdAt,
      startedAt: control.now(),
      depth: claim.depth + LINK,
      cause: { kind: 'call', account, input, parentRun: claim.lease.runId, root: rootOf(claim) },
    }
    const previewed = await preview(previewing, workflow, { claim: child, steps: [] })
    control.adopt(step.key, previewed)
    const { end } = previewed
    if (end.kind === 'completed') return { source: 'derived', outcome: completeWith(end.output, control.now()) }
    if (end.kind !== 'failed') return null
    const outcome = { status: 'failed', output: null, error: end.error, finishedAt: control.now() } as const
    return { source: 'derived', outcome }
  }
}
