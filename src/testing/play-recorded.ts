import { readFileSync } from 'node:fs'
import type { AnyWorkflow } from '../author/workflow.ts'
import { DEFAULT_POLICY } from '../core/safety/guard.ts'
import { compareTested, type PlayedRun } from '../engine/play/compare/compare-tested.ts'
import { sideOfPlay } from '../engine/play/compare/side-of-play.ts'
import type { PlayParts } from '../engine/play/play-pass.ts'
import { playRecorded as play, rulesOfTest, type TestedFile } from '../engine/play/play-recorded.ts'
import { Portable } from '../engine/play/portable.ts'
import { wrapCalls } from '../files/wrap-calls.ts'

/**
 * Plays a workflow on a run that `upshot runs test` recorded, and compares its end and its effects
 * with those of then. No function of a step is called.
 *
 * A step that the recording has no answer to ends the play as `open`. Secrets in the result are
 * redacted, and paths below the working folder are relative to it.
 */
export async function playRecorded(workflow: AnyWorkflow, file: URL | string): Promise<PlayedRun> {
  const recorded = JSON.parse(readFileSync(file, 'utf8')) as TestedFile
  // biome-ignore lint/style/noProcessEnv: an author's test has no project of ours with it
  const portable = new Portable({ environment: process.env, root: process.cwd() })
  if (recorded.did === undefined) {
    throw new Error(`${file} does not tell what the run did. Write it anew with "upshot runs test <id>".`)
  }
  const played = await play(PARTS, workflow, recorded, { rules: rulesOfTest(recorded) })
  return compareTested(recorded.did, portable.side(sideOfPlay(played)))
}

const PARTS: PlayParts = {
  reads: { listRunEvents: refuse, listDeletes: refuse, readOutput: refuse },
  filesFor: (_account, wrap) => wrapCalls(refuse, wrap, () => {}),
  guard: DEFAULT_POLICY,
}

function refuse(): never {
  throw new Error('A recorded run is played without the Files API.')
}
