import type { AnyWorkflow } from '../../../src/author/workflow.ts'
import type { Recording } from '../../../src/core/runs/claim.ts'
import { DEFAULT_POLICY } from '../../../src/core/safety/guard.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { declaredAnswers } from '../../../src/engine/play/declared-answers.ts'
import { derivedAnswers } from '../../../src/engine/play/derived-answers.ts'
import { firstAnswer } from '../../../src/engine/play/first-answer.ts'
import type { PlayParts } from '../../../src/engine/play/play-pass.ts'
import { playRun } from '../../../src/engine/play/play-run.ts'
import type { Played } from '../../../src/engine/play/played.ts'
import { recordedAnswers } from '../../../src/engine/play/recorded-answers.ts'
import { filesOf } from './files-in-runs.ts'

/** A play without a Files client. */
export function playParts(store: Store): PlayParts {
  return { reads: store, filesFor: filesOf({}), guard: DEFAULT_POLICY }
}

export async function readRecording(store: Store, runId: string): Promise<Recording> {
  const [recording] = await store.readRecordings([runId])
  if (!recording) throw new Error(`no run ${runId}`)
  return recording
}

/** Plays this code on what a run has recorded. */
export async function playRecorded(store: Store, runId: string, workflow: AnyWorkflow): Promise<Played> {
  const { claim, steps } = await readRecording(store, runId)
  const recorded = recordedAnswers(steps, (key) => store.readOutput(runId, key))
  return playRun(playParts(store), {
    claim,
    workflow,
    answersFor: (control) => firstAnswer([recorded, derivedAnswers(control), declaredAnswers(control)]),
  })
}
