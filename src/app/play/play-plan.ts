import type { AnyWorkflow } from '../../author/workflow.ts'
import type { Failure } from '../../core/errors.ts'
import { accountOf, type ClaimedRun, rootOf } from '../../core/runs/claim.ts'
import { type Checkpoint, stepNameOf } from '../../core/runs/step.ts'
import { MAX_INVOKE_DEPTH } from '../../core/runs/wait.ts'
import { readWorkflowGuard } from '../../core/safety/guard-schema.ts'
import type { GuardUse } from '../../core/store/safety/effects.ts'
import { declaredAnswers } from '../../engine/play/declared-answers.ts'
import { assumeDeleted, derivedAnswers } from '../../engine/play/derived-answers.ts'
import { findHolds, type Hold } from '../../engine/play/find-holds.ts'
import { type Answer, type AnswerStep, firstAnswer } from '../../engine/play/first-answer.ts'
import type { PlayParts } from '../../engine/play/play-pass.ts'
import { type PlayControl, playRun } from '../../engine/play/play-run.ts'
import type { Played } from '../../engine/play/played.ts'
import { recordedAnswers } from '../../engine/play/recorded-answers.ts'
import { PlannedFiles, type ReadFiles } from './planned-files.ts'

/** A run to plan. */
export interface PlanRequest {
  claim: ClaimedRun
  /** The counters of the guard now. */
  use: readonly GuardUse[]
  rules: PlanRules
}

/** The answers of a plan. */
export interface PlanRules {
  /** A run that answers first. `isWhole`: with all its steps, else with its reads only. */
  recorded: { run: string; steps: readonly Checkpoint[]; isWhole: boolean } | null
  /** False: a read that is not recorded ends the plan. */
  readsLive: boolean
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

/** Recorded answers come first; derived and declared ones come before real reads. */
function answersFor(planning: Planning, control: PlayControl): AnswerStep {
  const { files, world, claim, rules } = planning
  return firstAnswer([
    ...listRecorded(planning),
    standInForLink(control),
    // Without a look at its file, a delete finds what the run has read.
    ...(rules.readsLive ? [] : [assumeDeleted(control)]),
    derivedAnswers({
      ...control,
      isFolder: (target) => files.isFolder(target),
      onDelete: (target) => files.remove(target),
    }),
    declaredAnswers(control),
    playInvoked(planning, control),
    ...(rules.readsLive ? [readLive] : []),
    async (step) => {
      if (step.kind !== 'run' || !rules.borrows || (step.effect === 'read' && !rules.readsLive)) return null
      const found = await world.borrow(claim.workflow, { key: step.key, kind: step.kind, effect: step.effect })
      return found && { source: 'borrowed', from: found.run, outcome: complete(control, found.output) }
    },
  ])
}

/** A run that a step invokes has no recording here. */
function listRecorded({ world, rules: { recorded } }: Planning): AnswerStep[] {
  if (recorded === null) return []
  const { run, steps, isWhole } = recorded
  const given = isWhole ? steps : steps.filter(({ kind, effect }) => kind === 'run' && effect === 'read')
  return [recordedAnswers(given, (key) => world.parts.reads.readOutput(run, key))]
}

/** Reads are real, but for the bytes of a file, which a download would write to the disk. */
const readLive: AnswerStep = ({ kind, effect, key }, about) => {
  if (kind !== 'run' || effect !== 'read' || about.effect?.isOnce === true) return null
  return stepNameOf(key) === 'files.download' ? null : { source: 'live', outcome: null }
}

/** An address of bytes works like a key, so the code gets one that leads nowhere. */
export function standInForLink(control: Pick<PlayControl, 'now'>): AnswerStep {
  const value = { url: { reveal: () => 'https://plan.invalid/' }, expiresAt: null }
  return ({ key }) =>
    stepNameOf(key) === 'files.downloadUrl'
      ? { source: 'derived', outcome: { ...complete(control, 'null'), value } }
      : null
}

/** Plans the run that a step invokes. Where its end is open, so is the step. */
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
    if (end.kind === 'completed') return { source: 'derived', outcome: complete(control, end.output) }
    return end.kind === 'failed' ? { source: 'derived', outcome: fail(control, end.error) } : null
  }
}

function complete({ now }: Pick<PlayControl, 'now'>, output: string) {
  return { status: 'completed', output, error: null, finishedAt: now() } as const
}

function fail({ now }: PlayControl, error: Failure) {
  return { status: 'failed', output: null, error, finishedAt: now() } as const
}
