import type { AnyWorkflow } from '../../author/workflow.ts'
import type { EventRecord } from '../../core/incoming/event.ts'
import type { JsonValue } from '../../core/json.ts'
import type { ClaimedRun } from '../../core/runs/claim.ts'
import type { Checkpoint } from '../../core/runs/step.ts'
import type { StorageSpellings } from '../../core/service/storage.ts'
import type { RunSide } from './compare/deed.ts'
import { type AnswerRules, composeAnswers } from './compose-answers.ts'
import { findUnstarted, type Unstarted } from './find-unstarted.ts'
import type { AnswerStep } from './first-answer.ts'
import type { PlayParts } from './play-pass.ts'
import { playRun } from './play-run.ts'
import type { Played } from './played.ts'

/** A recorded run to play with other code. */
export interface RecordedRun {
  claim: ClaimedRun
  steps: Checkpoint[]
  /** All else that its code was given; absent where a store has it. */
  given?: GivenFacts
}

/** The facts that a play asks a store for. */
interface GivenFacts {
  /** Its events: more than one in a run of a batch. */
  events: EventRecord[]
  /** Deletes that tell whether its event is self-caused. */
  deletes: Checkpoint[]
  spellings: StorageSpellings
}

/** A recorded run that needs no store: every result is in its row. */
export interface WholeRun extends RecordedRun {
  given: GivenFacts
}

/** A run as the file of a test keeps it. */
export interface TestedFile extends WholeRun {
  /** Hash of the code that made it; null where that is not known. */
  codeHash: string | null
  /** Results that the run never got, by the key of their step. A person adds them by hand. */
  answers?: { readonly [step: string]: JsonValue }
  /** The play of it when its test was written. */
  did?: RunSide
}

/** The end and the effects of a recorded run that was played. */
export interface PlayedRecording extends Pick<Played, 'end' | 'effects'> {
  /** Null where the cause of the run starts this code. */
  unstarted: Unstarted | null
}

interface PlayWith {
  rules: AnswerRules
  files?: Parameters<typeof composeAnswers>[0]['files']
}

/** How a test plays its run: on what the file has, and no function of a step is called. */
export function rulesOfTest({ answers = {} }: Pick<TestedFile, 'answers'>): AnswerRules {
  return { readsLive: false, fixtures: answers, endsWhereHeld: true }
}

/** Plays this code on what a run has recorded, and no effect. */
export async function playRecorded(
  parts: PlayParts,
  workflow: AnyWorkflow,
  { claim, steps, given }: RecordedRun,
  { rules, files }: PlayWith,
): Promise<PlayedRecording> {
  const unstarted = findUnstarted(workflow, claim)
  if (unstarted !== null) {
    return { unstarted, end: { kind: 'skipped', reason: `it runs on ${unstarted.on}` }, effects: [] }
  }
  const { reads } = parts
  const own = given && {
    reads: { ...reads, listRunEvents: async () => given.events, listDeletes: async () => given.deletes },
    spellingsOf: () => given.spellings,
  }
  const readOutput = (key: string) => reads.readOutput(claim.lease.runId, key)
  const after = rules.endsWhereHeld ? explainMissing : undefined
  const { end, effects } = await playRun(
    { ...parts, ...own },
    {
      ...{ claim, workflow },
      answersFor: (control) =>
        composeAnswers({ rules, steps, readOutput, ...(files && { files }), ...(after && { after }) }, control),
    },
  )
  return { unstarted, end, effects }
}

/** Names the line of a test that answers a step of changed code. */
const explainMissing: AnswerStep = ({ key, kind }) => {
  if (kind !== 'run') return null
  throw new Error(`it is not recorded; add "answers": { ${JSON.stringify(key)}: … } to the file of the run`)
}
