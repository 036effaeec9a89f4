import type { AnyWorkflow } from '../../../src/author/workflow.ts'
import type { Recording } from '../../../src/core/runs/claim.ts'
import { DEFAULT_POLICY } from '../../../src/core/safety/guard.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { composeAnswers } from '../../../src/engine/play/compose-answers.ts'
import type { PlayParts } from '../../../src/engine/play/play-pass.ts'
import { playRun } from '../../../src/engine/play/play-run.ts'
import type { Played } from '../../../src/engine/play/played.ts'
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
  const readOutput = (key: string) => store.readOutput(runId, key)
  return playRun(playParts(store), {
    claim,
    workflow,
    answersFor: (control) => composeAnswers({ rules: { readsLive: false }, steps, readOutput }, control),
  })
}
