import { BulkRunner, type BulkStore } from '../../admin/operations/bulk-runner.ts'
import { describeError, UpshotError } from '../../core/errors.ts'
import type { BulkOperation } from '../../core/safety/bulk.ts'
import { type Clock, waitUntil } from '../../core/time.ts'

/** How often the progress is read, which may be that of another process. */
const LOOK_MS = 100

interface Work {
  clock: Clock
  signal: AbortSignal
  onProgress: (operation: BulkOperation) => void
  /** Hears of each slice of older operations, which nobody works on and which come first. */
  onOther: (operation: BulkOperation) => void
}

/**
 * Works on operations until this one is over, or `signal` aborts. A running app may be first; it
 * also goes on where this process ends. Rejects where the store does not work.
 */
export async function workOnOperation(
  store: BulkStore,
  id: string,
  { clock, signal, onProgress, onOther }: Work,
): Promise<BulkOperation> {
  let fault: unknown = null
  const runner = new BulkRunner({
    store,
    clock,
    publish: (notice) => {
      if (notice.kind === 'fault') fault = notice.error
    },
    onProgress: (operation) => {
      if (operation.id !== id) onOther(operation)
    },
  })
  runner.start()
  try {
    for (;;) {
      const operation = await store.findBulk(id)
      if (operation === null) throw new UpshotError('not_found', `There is no operation ${id}.`)
      if (fault !== null) throw new UpshotError('store_unavailable', describeError(fault).message)
      onProgress(operation)
      if (operation.endedAt !== null || signal.aborted) return operation
      // An abort ends the wait, and the operation is looked at once more.
      await waitUntil(clock, clock.now() + LOOK_MS, signal).catch(() => {})
    }
  } finally {
    await runner.stop()
  }
}
