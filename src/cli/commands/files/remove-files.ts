import { describeError } from '../../../core/errors.ts'
import type { FileState } from '../../../core/safety/effect.ts'
import { describeScope, type EffectStop } from '../../../core/safety/stop.ts'
import type { FileEntry } from '../../../core/service/file.ts'
import type { DeleteOutcome } from '../../../core/service/files-api.ts'
import type { FilesClient } from '../../../files/index.ts'
import type { HandLedger } from './hand-ledger.ts'

/** The result for one file. */
export interface Removal {
  file: FileEntry
  outcome: DeleteOutcome['outcome'] | 'failed' | 'stopped' | 'not_tried'
  /** The message of a failure. */
  error: string | null
}

/** Concurrent deletes. More would only wait for the account's rate limit. */
const CONCURRENCY = 4

/**
 * Deletes each file if it is unchanged, and continues after a failure. After an abort, deletes in
 * flight finish; the rest is `not_tried`. Each has its rows in the ledger; a stop that comes
 * meanwhile holds the rest.
 */
export async function removeFiles(
  { files, ledger }: { files: Pick<FilesClient, 'delete'>; ledger: HandLedger },
  found: readonly FileEntry[],
  { signal, onDone }: { signal: AbortSignal; onDone: (done: number) => void },
): Promise<Removal[]> {
  const removals = found.map((file): Removal => ({ file, outcome: 'not_tried', error: null }))
  let next = 0
  let done = 0
  const work = async () => {
    while (!signal.aborted) {
      const removal = removals[next++]
      if (removal === undefined) return
      await remove(files, ledger, removal)
      onDone(++done)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  return removals
}

async function remove(files: Pick<FilesClient, 'delete'>, ledger: HandLedger, removal: Removal): Promise<void> {
  const { file } = removal
  const begun = await ledger.begin(file)
  if ('stop' in begun) {
    Object.assign(removal, describeStop(begun.stop))
    return
  }
  let held: EffectStop | null = null
  let before: FileState | null = null
  const onSeen = ({ path, size: bytes, modifiedAt }: FileEntry): void => {
    before = { path, bytes, modifiedAt }
  }
  const beforeSend = async () => {
    held = await ledger.findStop(file)
    if (held !== null) throw new Error(describeScope(held))
  }
  try {
    removal.outcome = (await files.delete(file, { expect: file, beforeSend, onSeen })).outcome
  } catch (error) {
    const failed = { outcome: 'failed', error: describeError(error).message } as const
    Object.assign(removal, held === null ? failed : describeStop(held))
  }
  await ledger.end(file, begun.seq, { ...removal, before })
}

function describeStop(stop: EffectStop): Pick<Removal, 'outcome' | 'error'> {
  return { outcome: 'stopped', error: `${describeScope(stop)} are stopped: ${stop.reason}` }
}

/** The number of files by outcome, such as `{ deleted: 11, changed: 1 }`. */
export function countOutcomes(removals: readonly Removal[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { outcome } of removals) counts[outcome] = (counts[outcome] ?? 0) + 1
  return counts
}
