import { basename, isAbsolute } from 'node:path'
import type { Failure } from '../../core/errors.ts'
import { isPlainObject } from '../../core/json.ts'
import type { Recording, RunCause } from '../../core/runs/claim.ts'
import { type Checkpoint, stepNameOf } from '../../core/runs/step.ts'
import type { StorageSpellings } from '../../core/service/storage.ts'
import type { ReadStore } from '../../core/store/store.ts'
import { targetsOf } from '../../engine/admit/gather-event-facts.ts'
import type { RecordedRun } from '../../engine/play/play-recorded.ts'
import { Portable } from '../../engine/play/portable.ts'
import { processEnvironment } from '../../project/config/environment.ts'

/** Takes out of values what is of this machine and of the project in this folder. */
export function openPortable(root: string): Portable {
  return new Portable({ environment: processEnvironment(), root })
}

/** A run in the form of a file, without secrets, and without places of this machine. */
export async function recordRun(
  store: Pick<ReadStore, 'readOutput' | 'listRunEvents' | 'listDeletes'>,
  { run, claim, steps }: Recording,
  { spellings, portable }: { spellings: StorageSpellings; portable: Portable },
): Promise<RecordedRun> {
  const whole = steps.map(async ({ apartBytes, ...step }) => {
    const output = apartBytes === undefined ? step.output : await store.readOutput(run.id, step.key)
    return {
      ...step,
      output: output === null ? null : portOutput(step, output, portable),
      error: step.error && portFailure(step.error, portable),
    }
  })
  const listed = await store.listRunEvents(run.id)
  const events = listed.map((event) => ({ ...event, body: portable.json(event.body) }))
  const { cause } = claim
  const targets = cause.kind === 'event' && cause.event.type === 'file.deleted' ? targetsOf(cause.event, spellings) : []
  const deletes = await store.listDeletes(run.account, targets)
  const steady = {
    ...claim,
    lease: { ...claim.lease, worker: '' },
    cause: portCause(cause, portable),
    failure: claim.failure && portFailure(claim.failure, portable),
  }
  return { codeHash: claim.codeHash, claim: steady, steps: await Promise.all(whole), events, deletes, spellings }
}

function portCause(cause: RunCause, portable: Portable): RunCause {
  if (cause.kind === 'event') return { ...cause, event: { ...cause.event, body: portable.json(cause.event.body) } }
  return cause.kind === 'call' ? { ...cause, input: portable.json(cause.input) } : cause
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

/** The frames of a stack are places of this machine. */
function portFailure({ at: _, ...failure }: Failure, portable: Portable): Failure {
  return { ...failure, message: portable.text(failure.message) }
}
