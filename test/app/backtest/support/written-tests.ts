import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { recordRun } from '../../../../src/app/preview/record-run.ts'
import type { AnyWorkflow } from '../../../../src/author/workflow.ts'
import { DEFAULT_POLICY } from '../../../../src/core/safety/guard.ts'
import type { Store } from '../../../../src/core/store/store.ts'
import { sideOfPreview } from '../../../../src/engine/preview/compare/run-side.ts'
import { Portable } from '../../../../src/engine/preview/portable.ts'
import { previewRun, rulesOfTest } from '../../../../src/engine/preview/preview-run.ts'
import { replayRecorded } from '../../../../src/testing/replay-recorded.ts'
import { filesOf } from '../../../engine/support/files-in-runs.ts'

/** The tests of recorded runs, as `upshot runs test` writes and previews them. */
export interface WrittenTests {
  /** Runs that have completed. */
  completed: number
  /** Those of them whose test has the run's own end, and passes when it is previewed again. */
  passing: number
  /** All that was written, in one text. */
  text: string
}

export async function writeTests(store: Store, workflow: AnyWorkflow): Promise<WrittenTests> {
  const folder = mkdtempSync(join(tmpdir(), 'upshot-written-'))
  const parts = { reads: store, guard: DEFAULT_POLICY, filesFor: filesOf({}) }
  const found: WrittenTests = { completed: 0, passing: 0, text: '' }
  const portable = new Portable({ environment: { CHAT_TOKEN: 'canary-in-environment' }, root: process.cwd() })
  try {
    for (const { id } of await store.listRuns({ workflow: workflow.id, status: 'completed', limit: 10_000 })) {
      const [recording] = await store.readRecordings([id])
      if (!recording) throw new Error('the run is there')
      const recorded = await recordRun(store, recording, { spellings: {}, portable })
      const file = join(folder, `${id}.json`)
      const output = portable.value(JSON.parse((await store.readOutput(id, null)) ?? 'null'))
      const previewed = await previewRun(parts, workflow, recorded, rulesOfTest(recorded))
      const side = portable.side(sideOfPreview(previewed))
      writeFileSync(file, JSON.stringify({ ...recorded, did: side }))
      const { did, does } = await replayRecorded(workflow, file)
      const own = { kind: 'completed', text: '', output }
      found.completed += 1
      if (isDeepStrictEqual(did, does) && isDeepStrictEqual(did.end, own)) found.passing += 1
      found.text += JSON.stringify([recorded, side])
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
  return found
}
