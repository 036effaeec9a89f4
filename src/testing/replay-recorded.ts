import { readFileSync } from 'node:fs'
import type { AnyWorkflow } from '../author/workflow.ts'
import { DEFAULT_POLICY } from '../core/safety/guard.ts'
import { compareTested, type PreviewedRun } from '../engine/preview/compare/compare-tested.ts'
import { sideOfPreview } from '../engine/preview/compare/run-side.ts'
import { Portable } from '../engine/preview/portable.ts'
import type { PreviewParts } from '../engine/preview/preview-pass.ts'
import { previewRun, rulesOfTest, type TestedFile } from '../engine/preview/preview-run.ts'
import { wrapCalls } from '../files/wrap-calls.ts'

/**
 * Previews a workflow on a run that `upshot runs test` recorded, and compares its end and its
 * effects with those of then. No function of a step is called.
 *
 * A step that the recording has no answer to ends the preview as `open`. Secrets in the result are
 * redacted, and paths below the working folder are relative to it.
 */
export async function replayRecorded(workflow: AnyWorkflow, file: URL | string): Promise<PreviewedRun> {
  const recorded = JSON.parse(readFileSync(file, 'utf8')) as TestedFile
  // biome-ignore lint/style/noProcessEnv: an author's test has no project of ours with it
  const portable = new Portable({ environment: process.env, root: process.cwd() })
  if (recorded.did === undefined) {
    throw new Error(`${file} does not tell what the run did. Write it anew with "upshot runs test <id>".`)
  }
  const previewed = await previewRun(PARTS, workflow, recorded, rulesOfTest(recorded))
  return compareTested(recorded.did, portable.side(sideOfPreview(previewed)))
}

const PARTS: PreviewParts = {
  reads: { listRunEvents: refuse, listDeletes: refuse, readOutput: refuse },
  filesFor: (_account, wrap) => wrapCalls(refuse, wrap, () => {}),
  guard: DEFAULT_POLICY,
}

function refuse(): never {
  throw new Error('A recorded run is previewed without the Files API.')
}
