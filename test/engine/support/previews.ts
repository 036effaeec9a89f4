import type { AnyWorkflow } from '../../../src/author/workflow.ts'
import type { Recording } from '../../../src/core/runs/claim.ts'
import { DEFAULT_POLICY } from '../../../src/core/safety/guard.ts'
import type { Store } from '../../../src/core/store/store.ts'
import type { PreviewParts } from '../../../src/engine/preview/preview-pass.ts'
import { previewRun } from '../../../src/engine/preview/preview-run.ts'
import type { Previewed } from '../../../src/engine/preview/previewed.ts'
import { filesOf } from './files-in-runs.ts'

/** A preview without a Files client. */
export function previewParts(store: Store): PreviewParts {
  return { reads: store, filesFor: filesOf({}), guard: DEFAULT_POLICY }
}

export async function readRecording(store: Store, runId: string): Promise<Recording> {
  const [recording] = await store.readRecordings([runId])
  if (!recording) throw new Error(`no run ${runId}`)
  return recording
}

/** Previews this code on what a run has recorded. */
export async function replayRecorded(store: Store, runId: string, workflow: AnyWorkflow): Promise<Previewed> {
  return previewRun(previewParts(store), workflow, await readRecording(store, runId), { readsLive: false })
}
