import type { Removal, SeenFile } from '../../admin/ports/files-port.ts'
import { describeError } from '../../core/errors.ts'
import type { FileState } from '../../core/safety/effect.ts'
import { describeScope, type EffectStop } from '../../core/safety/stop.ts'
import type { FileEntry } from '../../core/service/file.ts'
import type { FilesClient } from '../../files/index.ts'
import type { HandLedger } from './hand-ledger.ts'

type Outcome = Pick<Removal, 'outcome' | 'error'>

interface RemovalParts {
  files: Pick<FilesClient, 'delete'>
  ledger: HandLedger
}

/** Concurrent deletes. More would only wait for the account's rate limit. */
const CONCURRENCY = 4

/**
 * Deletes each file as `removeFile` does, and continues after a failure. After an abort,
 * deletes in flight finish; the rest is `not_tried`.
 */
export async function removeFiles(
  parts: RemovalParts,
  found: readonly SeenFile[],
  { signal, onDone }: { signal: AbortSignal; onDone: (done: number) => void },
): Promise<Removal[]> {
  const removals = found.map((file): Removal => ({ file, outcome: 'not_tried', error: null }))
  let next = 0
  let done = 0
  const work = async () => {
    while (!signal.aborted) {
      const removal = removals[next++]
      if (removal === undefined) return
      Object.assign(removal, await removeFile(parts, removal.file))
      onDone(++done)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  return removals
}

/**
 * Deletes a file for a person, if it is unchanged. Its rows are in the ledger. A stop
 * holds it, even one that comes meanwhile. Rejects only where the ledger cannot be written.
 */
async function removeFile({ files, ledger }: RemovalParts, file: SeenFile): Promise<Outcome> {
  const begun = await ledger.begin(file)
  if ('stop' in begun) return describeStop(begun.stop)
  let held: EffectStop | null = null
  let before: FileState | null = null
  const onSeen = ({ path, size: bytes, modifiedAt }: FileEntry): void => {
    before = { path, bytes, modifiedAt }
  }
  const beforeSend = async () => {
    held = await ledger.findStop(file)
    if (held !== null) throw new Error(describeScope(held))
  }
  const removed = await files.delete(file, { expect: file, beforeSend, onSeen }).then(
    ({ outcome }): Outcome => ({ outcome, error: null }),
    (error): Outcome => {
      if (held !== null) return describeStop(held)
      return { outcome: 'failed', error: describeError(error).message }
    },
  )
  await ledger.end(file, begun.seq, { ...removed, before })
  return removed
}

function describeStop(stop: EffectStop): Outcome {
  return { outcome: 'stopped', error: `${describeScope(stop)} are stopped: ${stop.reason}` }
}
