import type { AnyWorkflow } from '../../author/workflow.ts'
import type { EventRecord } from '../../core/incoming/event.ts'
import type { JsonValue } from '../../core/json.ts'
import type { ClaimedRun } from '../../core/runs/claim.ts'
import type { Checkpoint } from '../../core/runs/step.ts'
import type { StorageSpellings } from '../../core/service/storage.ts'
import type { RunSide } from './compare/deed.ts'
import { type AnswerParts, type AnswerRules, composeAnswers } from './compose-answers.ts'
import { findUnstarted, type Unstarted } from './find-unstarted.ts'
import type { AnswerStep } from './first-answer.ts'
import type { PreviewParts } from './preview-pass.ts'
import { type PreviewControl, previewRun } from './preview-run.ts'
import { PREVIEWED_NOTHING, type Previewed } from './previewed.ts'

export interface RecordedRun {
  claim: ClaimedRun
  /** Those that answer first. */
  steps: readonly Checkpoint[]
  /** The run that recorded them, where it is another one. */
  of?: string
  /** All else that its code was given; absent where a store has it. */
  given?: GivenFacts
}

/** The facts that a preview asks a store for. */
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

export interface TestedFile extends WholeRun {
  /** Hash of the code that made it; null where that is not known. */
  codeHash: string | null
  /** Results that the run never got, by the key of their step. A person adds them by hand. */
  answers?: { readonly [step: string]: JsonValue }
  /** The preview of it when its test was written. */
  did?: RunSide
}

export interface ReplayedRecording extends Previewed {
  /** Null where the cause of the run starts this code. */
  unstarted: Unstarted | null
}

interface PreviewWith extends Pick<AnswerParts, 'rules' | 'files'> {
  /** More answers; see {@link AnswerParts}. */
  more?: (control: PreviewControl) => Pick<AnswerParts, 'before' | 'after'>
}

/** How a test previews its run: on what the file has, and no function of a step is called. */
export function rulesOfTest({ answers = {} }: Pick<TestedFile, 'answers'>): AnswerRules {
  return { readsLive: false, fixtures: answers, endsWhereHeld: true }
}

/** Previews this code on what a run has recorded, and no effect. */
export async function replayRecorded(
  parts: PreviewParts,
  workflow: AnyWorkflow,
  { claim, steps, of = claim.lease.runId, given }: RecordedRun,
  { rules, files, more }: PreviewWith,
): Promise<ReplayedRecording> {
  const unstarted = findUnstarted(workflow, claim)
  if (unstarted !== null) {
    return { ...PREVIEWED_NOTHING, unstarted, end: { kind: 'skipped', reason: `it runs on ${unstarted.on}` } }
  }
  const { reads } = parts
  const own = given && {
    reads: { ...reads, listRunEvents: async () => given.events, listDeletes: async () => given.deletes },
    spellingsOf: () => given.spellings,
  }
  const readOutput = (key: string) => reads.readOutput(of, key)
  const previewed = await previewRun(
    { ...parts, ...own },
    {
      ...{ claim, workflow },
      answersFor: (control) => {
        const after = rules.endsWhereHeld ? { after: explainMissing } : {}
        return composeAnswers(
          { rules, steps, readOutput, ...(files && { files }), ...after, ...more?.(control) },
          control,
        )
      },
    },
  )
  return { ...previewed, unstarted }
}

/** Names the line of a test that answers a step of changed code. */
const explainMissing: AnswerStep = ({ key, kind }) => {
  if (kind !== 'run') return null
  throw new Error(`it is not recorded; add "answers": { ${JSON.stringify(key)}: … } to the file of the run`)
}
