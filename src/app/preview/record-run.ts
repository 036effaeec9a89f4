import { basename, isAbsolute } from 'node:path'
import { maskTokens } from '../../core/incoming/hook.ts'
import { isPlainObject } from '../../core/json.ts'
import type { Recording } from '../../core/runs/claim.ts'
import { type Checkpoint, stepNameOf } from '../../core/runs/step.ts'
import type { StorageSpellings } from '../../core/service/storage.ts'
import type { ReadStore } from '../../core/store/store.ts'
import { targetsOf } from '../../engine/admit/gather-event-facts.ts'
import type { RunSide } from '../../engine/preview/compare/deed.ts'
import { sideOfPreview } from '../../engine/preview/compare/run-side.ts'
import { Portable } from '../../engine/preview/portable.ts'
import { type RecordedRun, rulesOfTest, type TestedFile, type WholeRun } from '../../engine/preview/preview-run.ts'
import { processEnvironment } from '../../project/config/environment.ts'
import type { IsolatedProcess } from './isolated-process.ts'
import { rewriteRun } from './rewrite-run.ts'

/** Takes out of values what is of this machine and of the project in this folder. */
export function openPortable(root: string): Portable {
  return new Portable({ environment: processEnvironment(), root })
}

type Reads = Pick<ReadStore, 'readOutput' | 'listRunEvents' | 'listDeletes'>

/** A recorded run with all that a preview of it would ask the store for. */
export async function readWhole(
  store: Reads,
  { run, claim, steps }: Pick<RecordedRun, 'claim' | 'steps'> & { run: Pick<Recording['run'], 'id' | 'account'> },
  spellings: StorageSpellings,
): Promise<WholeRun> {
  const whole = steps.map(async ({ apartBytes, ...step }) => {
    return apartBytes === undefined ? step : { ...step, output: await store.readOutput(run.id, step.key) }
  })
  const events = await store.listRunEvents(run.id)
  const targets = events.flatMap((event) => targetsOf(event, spellings))
  const given = { events, deletes: await store.listDeletes(run.account, targets), spellings }
  return { claim, steps: await Promise.all(whole), given }
}

/** A run in the form of a file, without secrets, and without places of this machine. */
export async function recordRun(
  store: Reads,
  recording: Recording,
  { spellings, portable }: { spellings: StorageSpellings; portable: Portable },
): Promise<TestedFile> {
  const whole = rewriteRun(
    {
      text: (text) => portable.text(text),
      name: maskTokens,
      json: (text) => portable.json(text),
      output: (output, step) => portOutput(step, output, portable),
    },
    await readWhole(store, recording, spellings),
  )
  return { codeHash: whole.claim.codeHash, ...whole }
}

export async function previewTested(
  isolated: Pick<IsolatedProcess, 'previewOne'>,
  recorded: TestedFile,
): Promise<RunSide> {
  return sideOfPreview(await isolated.previewOne(recorded, rulesOfTest(recorded)))
}

/** Paths of the service stay as they are; those of a download and of the author become relative. */
function portOutput({ key }: Pick<Checkpoint, 'key'>, output: string, portable: Portable): string {
  const name = stepNameOf(key)
  if (name === 'files.download') return portDownload(portable.output(output))
  return name.startsWith('files.') ? portable.json(output) : portable.output(output)
}

/** A folder beyond the project is one of this machine alone. */
function portDownload(output: string): string {
  const value: unknown = JSON.parse(output)
  if (!isPlainObject(value) || typeof value.path !== 'string' || !isAbsolute(value.path)) return output
  return JSON.stringify({ ...value, path: `downloads/${basename(value.path)}` })
}
