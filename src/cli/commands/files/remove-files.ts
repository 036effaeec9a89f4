import { describeError } from '../../../core/errors.ts'
import type { FileEntry } from '../../../core/service/file.ts'
import type { DeleteOutcome } from '../../../core/service/files-api.ts'
import type { FilesClient } from '../../../files/index.ts'

/** The result for one file. */
export interface Removal {
  file: FileEntry
  outcome: DeleteOutcome['outcome'] | 'failed' | 'not_tried'
  /** The message of a failure. */
  error: string | null
}

/** Concurrent deletes. More would only wait for the account's rate limit. */
const CONCURRENCY = 4

/**
 * Deletes each file if it is unchanged, and continues after a failure. After an abort, deletes in
 * flight finish; the rest is `not_tried`.
 */
export async function removeFiles(
  files: Pick<FilesClient, 'delete'>,
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
      await remove(files, removal)
      onDone(++done)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  return removals
}

async function remove(files: Pick<FilesClient, 'delete'>, removal: Removal): Promise<void> {
  try {
    removal.outcome = (await files.delete(removal.file, { expect: removal.file })).outcome
  } catch (error) {
    removal.outcome = 'failed'
    removal.error = describeError(error).message
  }
}

/** The number of files by outcome, such as `{ deleted: 11, changed: 1 }`. */
export function countOutcomes(removals: readonly Removal[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { outcome } of removals) counts[outcome] = (counts[outcome] ?? 0) + 1
  return counts
}
