import type { AnyWorkflow } from '../../author/workflow.ts'
import { accountOf, type ClaimedRun, rootOf } from '../../core/runs/claim.ts'
import type { Checkpoint } from '../../core/runs/step.ts'
import { MAX_INVOKE_DEPTH } from '../../core/runs/wait.ts'
import { readWorkflowGuard } from '../../core/safety/guard-schema.ts'
import type { GuardUse } from '../../core/store/safety/effects.ts'
import { type AnswerRules, completeWith } from '../../engine/play/compose-answers.ts'
import { findHolds, type Hold } from '../../engine/play/find-holds.ts'
import type { Answer, AnswerStep } from '../../engine/play/first-answer.ts'
import { playJournal } from '../../engine/play/play-journal.ts'
import type { PlayParts } from '../../engine/play/play-pass.ts'
import { type PlayedRecording, playRecorded, type RecordedRun } from '../../engine/play/play-recorded.ts'
import type { PlayControl } from '../../engine/play/play-run.ts'
import { PlannedFiles, type ReadFiles } from './planned-files.ts'

/** A run to play; twice, to see whether it is steady. */
export interface PlayJob extends RecordedRun {
  isTwice?: boolean
}

/** How runs are played. */
export interface PlayRules extends AnswerRules {
  /** As plans: the runs that they invoke are played too, and the guard is asked. Default: not. */
  plans?: {
    /** The counters of the guard now. */
    use: readonly GuardUse[]
    /** False: the result of another run's step ends the plan. */
    borrows: boolean
  }
  /** Up to the end of their journals, as a pass at this moment. Default: to their own end. */
  journalAt?: number
}

/** A played run, with the effects that the guard would hold. */
export interface PlayedRun extends PlayedRecording {
  holds: Hold[]
}

/** The result of another run's step. */
export interface Borrowed {
  output: string
  run: string
}

interface PlayWorld {
  parts: Omit<PlayParts, 'filesFor'>
  findWorkflow: (id: string) => AnyWorkflow | undefined
  readFiles: ReadFiles
  /** Hears the id of each run that is invoked. */
  onInvoked: (run: string) => void
  borrow: (workflow: string, step: Pick<Checkpoint, 'key' | 'kind' | 'effect'>) => Promise<Borrowed | null>
}

/** Each delete that has begun takes about 7 KB until it ends. */
const DELETES_AT_ONCE = 200

/** Plays a run of a workflow, and no effect. */
export async function playJob(
  world: PlayWorld,
  workflow: AnyWorkflow,
  job: RecordedRun,
  rules: PlayRules,
): Promise<PlayedRun> {
  const { plans, journalAt } = rules
  // A recording says in which order its steps began, and a long list takes much memory at once.
  const files = new PlannedFiles(world.readFiles, job.steps.length === 0 ? { deletesAtOnce: DELETES_AT_ONCE } : {})
  const parts: PlayParts = { ...world.parts, filesFor: (account, wrap) => files.filesFor(account, wrap) }
  if (journalAt !== undefined) {
    return { ...(await playJournal(parts, workflow, job, journalAt)), unstarted: null, holds: [] }
  }
  const played = await play({ world, parts, files, rules }, workflow, job)
  const source = { runId: job.claim.lease.runId, workflow: workflow.id, account: accountOf(job.claim.cause) }
  const own = readWorkflowGuard(workflow)
  const holds = plans ? findHolds(played.effects, { limits: parts.guard.limits, own, source, use: plans.use }) : []
  return { ...played, holds }
}

interface Playing {
  world: PlayWorld
  parts: PlayParts
  files: PlannedFiles
  rules: PlayRules
}

function play(playing: Playing, workflow: AnyWorkflow, job: RecordedRun): Promise<PlayedRecording> {
  const { parts, files, rules } = playing
  const more = (control: PlayControl) => ({
    before: playInvoked(playing, job.claim, control),
    after: borrowResult(playing, job.claim, control),
  })
  return playRecorded(parts, workflow, job, { rules, files, ...(rules.plans && { more }) })
}

/** The result of another run. That of a read or a delete is about another file, or another day. */
function borrowResult({ world, rules }: Playing, { workflow }: ClaimedRun, { now }: PlayControl): AnswerStep {
  return async ({ key, kind, effect }) => {
    const isOfFiles = effect === 'read' || effect === 'delete'
    if (kind !== 'run' || !rules.plans?.borrows || (isOfFiles && !rules.readsLive)) return null
    const found = await world.borrow(workflow, { key, kind, effect })
    return found && { source: 'borrowed', from: found.run, outcome: completeWith(found.output, now()) }
  }
}

/** Plays the run that a step invokes. Where the end of that is open, so is the step. */
function playInvoked(playing: Playing, claim: ClaimedRun, control: PlayControl): AnswerStep {
  return async (step, { invoke }): Promise<Answer | null> => {
    const { world } = playing
    const workflow = invoke && world.findWorkflow(invoke.workflow)
    if (!invoke || !workflow || claim.depth >= MAX_INVOKE_DEPTH) return null
    const { run, account, input, createdAt } = invoke
    world.onInvoked(run)
    const child: ClaimedRun = {
      ...claim,
      lease: { ...claim.lease, runId: run },
      workflow: workflow.id,
      createdAt,
      startedAt: control.now(),
      depth: claim.depth + 1,
      cause: { kind: 'call', account, input, parentRun: claim.lease.runId, root: rootOf(claim) },
    }
    const played = await play(playing, workflow, { claim: child, steps: [] })
    control.adopt(step.key, played)
    const { end } = played
    if (end.kind === 'completed') return { source: 'derived', outcome: completeWith(end.output, control.now()) }
    if (end.kind !== 'failed') return null
    const outcome = { status: 'failed', output: null, error: end.error, finishedAt: control.now() } as const
    return { source: 'derived', outcome }
  }
}
