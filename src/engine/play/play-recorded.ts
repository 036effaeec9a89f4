import type { AnyWorkflow } from '../../author/workflow.ts'
import type { EventRecord } from '../../core/incoming/event.ts'
import type { JsonValue } from '../../core/json.ts'
import type { ClaimedRun } from '../../core/runs/claim.ts'
import { type Checkpoint, isFinished } from '../../core/runs/step.ts'
import { DEFAULT_POLICY } from '../../core/safety/guard.ts'
import type { StorageSpellings } from '../../core/service/storage.ts'
import type { FilesFor } from '../worker-parts.ts'
import { compareSides, describeChange } from './compare/compare-sides.ts'
import type { Deed, Ending, RunSide } from './compare/deed.ts'
import { sideOfPlay } from './compare/side-of-play.ts'
import { declaredAnswers } from './declared-answers.ts'
import { derivedAnswers } from './derived-answers.ts'
import { findUnstarted } from './find-unstarted.ts'
import { type AnswerStep, firstAnswer } from './first-answer.ts'
import { type PlayControl, playRun } from './play-run.ts'
import { recordedAnswers } from './recorded-answers.ts'

/** A run as a file keeps it, with all that its code was given. */
export interface RecordedRun {
  /** Hash of the code that made it; null where that is not known. */
  codeHash: string | null
  claim: ClaimedRun
  /** Its journal, with every result in its row. */
  steps: Checkpoint[]
  /** Its events: more than one in a run of a batch. */
  events: EventRecord[]
  /** Deletes that tell whether its event is self-caused. */
  deletes: Checkpoint[]
  spellings: StorageSpellings
  /** Results that the run never got, by the key of their step. A person adds them by hand. */
  answers?: { readonly [step: string]: JsonValue }
  /** The play of it when its test was written. */
  did?: RunSide
}

/** The run of a test, when it was written and with the code of today. */
export interface PlayedRun {
  did: TestedRun
  /** The same as `did`, where no change is found. */
  does: TestedRun
}

/** The end and the effects of a run, in the form of a test. */
export interface TestedRun {
  /** `text`: the error, the reason, or the step without an answer. */
  end: { kind: Ending['kind']; text: string; output: JsonValue }
  /** Effects, in the order in which they would begin. */
  effects: TestedEffect[]
  /** Differences, as `upshot backtest` names them. Effects that do not wait have no order. */
  changes: string[]
}

/** An effect of a played run. Parts that say nothing are left out. */
export interface TestedEffect {
  step: string
  class: Deed['class']
  target?: string
  /** State that a delete requires. */
  expect?: JsonValue
  /** Content of a write, the data of an event, the input of a run, or the question to people. */
  body?: JsonValue
}

/** Compares two plays of a recorded run, as a backtest does. */
export function compareRecorded(did: RunSide, does: RunSide): PlayedRun {
  const verdict = compareSides(did, does, { withOutputs: true })
  const before = describeSide(did, [])
  if (verdict.kind === 'same') return { did: before, does: before }
  const isOpen = verdict.kind === 'unknown'
  const changes = isOpen ? [`cannot say: ${does.end.text}`] : verdict.changes.map(describeChange)
  return { did: before, does: describeSide(does, changes) }
}

/** Plays this code on what a run has recorded: no function of a step is called. */
export async function playRecorded(
  workflow: AnyWorkflow,
  { claim, steps, events, deletes, spellings, answers = {} }: RecordedRun,
  filesFor: FilesFor,
): Promise<RunSide> {
  const unstarted = findUnstarted(workflow, claim)
  if (unstarted !== null) {
    return sideOfPlay({ unstarted, end: { kind: 'skipped', reason: `it runs on ${unstarted.on}` }, effects: [] })
  }
  const reads = {
    listRunEvents: async () => events,
    listDeletes: async () => deletes,
    readOutput: async (_run: string, key: string | null) => steps.find((step) => step.key === key)?.output ?? 'null',
  }
  const recorded = recordedAnswers(steps, (key) => reads.readOutput('', key))
  const played = await playRun(
    { reads, filesFor, guard: DEFAULT_POLICY, spellingsOf: () => spellings },
    {
      claim,
      workflow,
      answersFor: (control) =>
        firstAnswer([
          addedAnswers(answers, control),
          recorded,
          endWhereHeld(steps),
          derivedAnswers(control),
          declaredAnswers(control),
          explainMissing,
        ]),
    },
  )
  return sideOfPlay(played)
}

/** Answers what a person has added to the file. */
function addedAnswers(answers: NonNullable<RecordedRun['answers']>, { now }: PlayControl): AnswerStep {
  return ({ key, kind }) => {
    if (kind !== 'run' || !Object.hasOwn(answers, key)) return null
    const output = JSON.stringify(answers[key])
    return { source: 'declared', outcome: { status: 'completed', error: null, finishedAt: now(), output } }
  }
}

/** Ends the play where the run stood when it was recorded. */
function endWhereHeld(steps: readonly Checkpoint[]): AnswerStep {
  const held = new Set(steps.filter((step) => !isFinished(step)).map(({ key }) => key))
  return ({ key }) => {
    if (held.has(key)) throw new Error('the run was recorded while it waited here')
    return null
  }
}

/** Names the line that answers a step of changed code. */
const explainMissing: AnswerStep = ({ key, kind }) => {
  if (kind !== 'run') return null
  throw new Error(`it is not recorded; add "answers": { ${JSON.stringify(key)}: … } to the file of the run`)
}

function describeSide({ end, deeds }: RunSide, changes: string[]): TestedRun {
  return { end: { ...end, output: parse(end.output) ?? null }, effects: deeds.map(describeEffect), changes }
}

function describeEffect({ step, class: kind, ...deed }: Deed): TestedEffect {
  const [expect, body] = [parse(deed.expect), parse(deed.content)]
  return {
    ...{ step, class: kind },
    ...(deed.target !== null && { target: deed.target }),
    ...(expect !== undefined && { expect }),
    ...(body !== undefined && { body }),
  }
}

function parse(text: string | null | undefined): JsonValue | undefined {
  return text == null ? undefined : JSON.parse(text)
}
