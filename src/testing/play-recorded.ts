import { readFileSync } from 'node:fs'
import type { AnyWorkflow } from '../author/workflow.ts'
import {
  compareRecorded,
  type PlayedRun,
  playRecorded as play,
  type RecordedRun,
} from '../engine/play/play-recorded.ts'
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
  const recorded = JSON.parse(readFileSync(file, 'utf8')) as RecordedRun
  // biome-ignore lint/style/noProcessEnv: an author's test has no project of ours with it
  const portable = new Portable({ environment: process.env, root: process.cwd() })
  const played = await play(workflow, recorded, (_account, wrap) => wrapCalls(refuse, wrap, () => {}))
  if (recorded.did === undefined) {
    throw new Error(`${file} does not tell what the run did. Write it anew with "upshot runs test <id>".`)
  }
  return compareRecorded(recorded.did, portable.side(played))
}

function refuse(): never {
  throw new Error('A recorded run is played without the Files API.')
}
