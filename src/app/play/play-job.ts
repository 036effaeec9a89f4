import type { AnyWorkflow } from '../../author/workflow.ts'
import type { EventRecord } from '../../core/incoming/event.ts'
import type { JsonValue } from '../../core/json.ts'
import type { ClaimedRun } from '../../core/runs/claim.ts'
import { type Checkpoint, stepNameOf } from '../../core/runs/step.ts'
import type { StorageSpellings } from '../../core/service/storage.ts'
import { compareSides } from '../../engine/play/compare/compare-sides.ts'
import { sideOfPlay } from '../../engine/play/compare/side-of-play.ts'
import { declaredAnswers } from '../../engine/play/declared-answers.ts'
import { assumeDeleted, derivedAnswers } from '../../engine/play/derived-answers.ts'
import { findUnstarted, type Unstarted } from '../../engine/play/find-unstarted.ts'
import { type AnswerStep, firstAnswer } from '../../engine/play/first-answer.ts'
import type { PlayParts } from '../../engine/play/play-pass.ts'
import { type PlayControl, playRun } from '../../engine/play/play-run.ts'
import type { Played } from '../../engine/play/played.ts'
import { recordedAnswers } from '../../engine/play/recorded-answers.ts'
import { PlannedFiles, type ReadFiles } from './planned-files.ts'
import { standInForLink } from './play-plan.ts'

/** A recorded run to play with other code. */
export interface PlayJob {
  claim: ClaimedRun
  steps: Checkpoint[]
  /** All else that its code was given; absent where a store has it. */
  given?: { events: EventRecord[]; deletes: Checkpoint[]; spellings: StorageSpellings }
  /** Played a second time, to see whether it is steady. */
  isTwice: boolean
}

/** The answers of plays where the recording has none. */
export interface PlayRules {
  /** Whether reads that are not recorded are made. */
  readsLive: boolean
  /** Names or keys of reading steps whose function is called although their result is recorded. */
  rerun: readonly string[]
  /** Results by key or name of a step, for those that no recording answers. */
  fixtures: Readonly<Record<string, JsonValue>>
}

/** The end and the effects of a job. */
export interface JobEnd extends Pick<Played, 'end' | 'effects'> {
  /** Null where the cause of the run starts this code. */
  unstarted: Unstarted | null
  /** False where two plays of it differ. */
  isSteady: boolean
}

interface JobWorld {
  parts: Omit<PlayParts, 'filesFor'>
  readFiles: ReadFiles
  rules: PlayRules
}

/** Plays a job: on what its run has recorded, and no effect. */
export async function playJob(world: JobWorld, workflow: AnyWorkflow, job: PlayJob): Promise<JobEnd> {
  const unstarted = findUnstarted(workflow, job.claim)
  if (unstarted !== null) {
    return { unstarted, end: { kind: 'skipped', reason: `it runs on ${unstarted.on}` }, effects: [], isSteady: true }
  }
  const first = await playOnce(world, workflow, job)
  const isSteady = !job.isTwice || areAlike(first, await playOnce(world, workflow, job))
  return { unstarted, end: first.end, effects: first.effects, isSteady }
}

function areAlike(one: Played, other: Played): boolean {
  const verdict = compareSides(sideOfPlay(one), sideOfPlay(other), { withOutputs: true })
  return verdict.kind !== 'differs' && one.end.kind === other.end.kind
}

async function playOnce({ parts, readFiles, rules }: JobWorld, workflow: AnyWorkflow, job: PlayJob): Promise<Played> {
  const { claim, steps, given } = job
  const files = new PlannedFiles(readFiles)
  const readOutput = (key: string) => parts.reads.readOutput(claim.lease.runId, key)
  const recorded = recordedAnswers(steps, readOutput)
  return playRun(
    {
      ...parts,
      ...(given && {
        reads: { ...parts.reads, listRunEvents: async () => given.events, listDeletes: async () => given.deletes },
        spellingsOf: () => given.spellings,
      }),
      filesFor: (account, wrap) => files.filesFor(account, wrap),
    },
    {
      claim,
      workflow,
      answersFor: (control) =>
        firstAnswer([
          callAnew(rules.rerun),
          recorded,
          standInForLink(control),
          fixedAnswers(rules.fixtures, control),
          declaredAnswers(control),
          ...(rules.readsLive ? [derived(files, control), readAnew] : [assumeDeleted(control), steady(control)]),
        ]),
    },
  )
}

/** Calls the functions of reads that are to be made again. */
function callAnew(names: readonly string[]): AnswerStep {
  return ({ key, kind, effect }) => {
    if (kind !== 'run' || effect !== 'read') return null
    return names.includes(key) || names.includes(stepNameOf(key)) ? { source: 'live', outcome: null } : null
  }
}

function fixedAnswers(fixtures: PlayRules['fixtures'], { now }: PlayControl): AnswerStep {
  return ({ key, kind }) => {
    const name = [key, stepNameOf(key)].find((each) => Object.hasOwn(fixtures, each))
    if (kind !== 'run' || name === undefined) return null
    const output = JSON.stringify(fixtures[name])
    return { source: 'derived', outcome: { status: 'completed', error: null, finishedAt: now(), output } }
  }
}

function derived(files: PlannedFiles, control: PlayControl): AnswerStep {
  return derivedAnswers({
    ...control,
    isFolder: (target) => files.isFolder(target),
    onDelete: (target) => files.remove(target),
  })
}

/** Answers what follows from a step itself, without a look at its file. */
function steady(control: PlayControl): AnswerStep {
  const answer = derivedAnswers(control)
  return (step, about) => (step.effect === 'delete' ? null : answer(step, about))
}

/** Reads are real, but for the bytes of a file. */
const readAnew: AnswerStep = ({ kind, effect, key }, about) => {
  if (kind !== 'run' || effect !== 'read' || about.effect?.isOnce === true) return null
  return stepNameOf(key).startsWith('files.download') ? null : { source: 'live', outcome: null }
}
