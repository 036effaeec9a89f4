import type { AnyWorkflow } from '../../author/workflow.ts'
import { accountOf, type ClaimedRun, rootOf } from '../../core/runs/claim.ts'
import type { Checkpoint } from '../../core/runs/step.ts'
import { MAX_INVOKE_DEPTH } from '../../core/runs/wait.ts'
import { readWorkflowGuard } from '../../core/safety/guard-schema.ts'
import type { GuardUse } from '../../core/store/safety/effects.ts'
import { type AnswerRules, completeWith, composeAnswers } from '../../engine/play/compose-answers.ts'
import { findHolds, type Hold } from '../../engine/play/find-holds.ts'
import type { Answer, AnswerStep } from '../../engine/play/first-answer.ts'
import type { PlayParts } from '../../engine/play/play-pass.ts'
import { type PlayControl, playRun } from '../../engine/play/play-run.ts'
import type { Played } from '../../engine/play/played.ts'
import { PlannedFiles, type ReadFiles } from './planned-files.ts'

/** A run to plan. */
export interface PlanRequest {
  claim: ClaimedRun
  /** The counters of the guard now. */
  use: readonly GuardUse[]
  rules: PlanRules
}

/** The answers of a plan. */
export interface PlanRules extends Pick<AnswerRules, 'readsLive'> {
  /** A run that answers first. `isWhole`: with all its steps, else with its reads only. */
  recorded: { run: string; steps: readonly Checkpoint[]; isWhole: boolean } | null
  /** False: the result of another run's step ends the plan. */
  borrows: boolean
}

/** A played run, with the effects that the guard would hold. */
export interface PlannedRun extends Played {
  holds: Hold[]
}

/** The result of another run's step. */
export interface Borrowed {
  output: string
  run: string
}

interface PlanWorld {
  parts: Omit<PlayParts, 'filesFor'>
  findWorkflow: (id: string) => AnyWorkflow | undefined
  readFiles: ReadFiles
  /** Hears the id of each run that the plan invokes. */
  onInvoked: (run: string) => void
  borrow: (workflow: string, step: Pick<Checkpoint, 'key' | 'kind' | 'effect'>) => Promise<Borrowed | null>
}

/** Each delete that has begun takes about 7 KB until it ends. */
const DELETES_AT_ONCE = 200

/** Plans a run of a workflow: real reads, and no effect. */
export async function playPlan(
  world: PlanWorld,
  workflow: AnyWorkflow,
  { claim, use, rules }: PlanRequest,
): Promise<PlannedRun> {
  // A recording says in which order its steps began, and a long list takes much memory at once.
  const files = new PlannedFiles(world.readFiles, rules.recorded === null ? { deletesAtOnce: DELETES_AT_ONCE } : {})
  const parts: PlayParts = { ...world.parts, filesFor: (account, wrap) => files.filesFor(account, wrap) }
  const played = await playRun(parts, {
    claim,
    workflow,
    answersFor: (control) => answersFor({ world, parts, files, claim, rules }, control),
  })
  const source = { runId: claim.lease.runId, workflow: workflow.id, account: accountOf(claim.cause) }
  const { limits } = parts.guard
  return { ...played, holds: findHolds(played.effects, { limits, own: readWorkflowGuard(workflow), source, use }) }
}

interface Planning {
  world: PlanWorld
  parts: PlayParts
  files: PlannedFiles
  claim: ClaimedRun
  rules: PlanRules
}

function answersFor(planning: Planning, control: PlayControl): AnswerStep {
  const { files, world, rules } = planning
  const { run = '', steps = [], isWhole = true } = rules.recorded ?? {}
  return composeAnswers(
    {
      ...{ rules, files },
      steps: isWhole ? steps : steps.filter(({ kind, effect }) => kind === 'run' && effect === 'read'),
      readOutput: (key) => world.parts.reads.readOutput(run, key),
      before: playInvoked(planning, control),
      after: borrowResult(planning, control),
    },
    control,
  )
}

/** The result of another run. That of a read or a delete is about another file, or another day. */
function borrowResult({ world, claim, rules }: Planning, { now }: PlayControl): AnswerStep {
  return async ({ key, kind, effect }) => {
    const isOfFiles = effect === 'read' || effect === 'delete'
    if (kind !== 'run' || !rules.borrows || (isOfFiles && !rules.readsLive)) return null
    const found = await world.borrow(claim.workflow, { key, kind, effect })
    return found && { source: 'borrowed', from: found.run, outcome: completeWith(found.output, now()) }
  }
}

/** Plans the run that a step invokes. Where the end of that is open, so is the step. */
function playInvoked({ world, parts, files, claim, rules }: Planning, control: PlayControl): AnswerStep {
  return async (step, { invoke }): Promise<Answer | null> => {
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
    const answers = (inner: PlayControl) =>
      answersFor({ world, parts, files, claim: child, rules: { ...rules, recorded: null } }, inner)
    const played = await playRun(parts, { claim: child, workflow, answersFor: answers })
    control.adopt(step.key, played)
    const { end } = played
    if (end.kind === 'completed') return { source: 'derived', outcome: completeWith(end.output, control.now()) }
    if (end.kind !== 'failed') return null
    const outcome = { status: 'failed', output: null, error: end.error, finishedAt: control.now() } as const
    return { source: 'derived', outcome }
  }
}
