import type { AnyWorkflow } from '../../author/workflow.ts'
import type { Failure } from '../../core/errors.ts'
import type { EventRecord } from '../../core/incoming/event.ts'
import type { JsonValue } from '../../core/json.ts'
import type { ClaimedRun } from '../../core/runs/claim.ts'
import { type Checkpoint, isFinished } from '../../core/runs/step.ts'
import type { FileState } from '../../core/safety/effect.ts'
import { DEFAULT_POLICY } from '../../core/safety/guard.ts'
import type { StorageSpellings } from '../../core/service/storage.ts'
import type { FilesFor } from '../worker-parts.ts'
import { declaredAnswers } from './declared-answers.ts'
import { derivedAnswers } from './derived-answers.ts'
import { type AnswerStep, firstAnswer } from './first-answer.ts'
import { type PlayControl, playRun } from './play-run.ts'
import type { PlayedEffect, PlayedEnd } from './played.ts'
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
}

/** The end and the effects of a played run, in the form of a test. */
export interface PlayedRun {
  end:
    | { kind: 'completed'; output: JsonValue }
    | { kind: 'continued'; input: JsonValue }
    | { kind: 'failed'; error: Pick<Failure, 'name' | 'message'> }
    | { kind: 'skipped' | 'halted'; reason: string }
    /** The recording has no answer to this step. */
    | { kind: 'open'; step: string; reason: string }
  /** Effects, in the order in which they would begin. */
  effects: TestedEffect[]
}

/** An effect of a played run. Parts that say nothing are left out. */
export interface TestedEffect {
  step: string
  class: PlayedEffect['class']
  target?: string
  /** State that a delete requires. */
  expect?: FileState
  /** Content of a write, the data of an event, the input of a run, or the question to people. */
  body?: JsonValue
}

/** Plays this code on what a run has recorded: no function of a step is called. */
export async function playRecorded(
  workflow: AnyWorkflow,
  { claim, steps, events, deletes, spellings, answers = {} }: RecordedRun,
  filesFor: FilesFor,
): Promise<PlayedRun> {
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
  return { end: describeEnd(played.end), effects: played.effects.map(describeEffect) }
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

function describeEnd(end: PlayedEnd): PlayedRun['end'] {
  switch (end.kind) {
    case 'completed':
      return { kind: end.kind, output: JSON.parse(end.output) }
    case 'continued':
      return { kind: end.kind, input: JSON.parse(end.input) }
    case 'failed':
      return { kind: end.kind, error: { name: end.error.name, message: end.error.message } }
    case 'skipped':
    case 'halted':
      return { kind: end.kind, reason: end.reason }
    case 'open':
      return { kind: end.kind, step: end.step, reason: end.reason }
    default:
      return end satisfies never
  }
}

function describeEffect({ step, class: kind, target, asked, expect, body }: PlayedEffect): TestedEffect {
  const content = body === null ? asked?.input : (JSON.parse(body) as JsonValue)
  return {
    step,
    class: kind,
    ...(target === null ? {} : { target }),
    ...(expect === null ? {} : { expect }),
    ...(content === undefined ? {} : { body: content }),
  }
}
