import { rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { UpshotError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import type { StorageName } from '../../core/service/storage.ts'
import type { SandboxClock } from '../state/clock.ts'
import { atomically, type Db } from '../state/database.ts'
import type { EventJournal } from '../state/event-journal.ts'
import { notFound } from '../state/not-found.ts'
import type { Storage } from '../storage/storage.ts'
import type { StorageIndex } from '../storage/storage-index.ts'
import {
  planTransfer,
  type TransferInput,
  type TransferPlan,
  type TransferStep,
  transferInput,
} from './plan-transfer.ts'
import {
  type Transfer,
  type TransferError,
  type TransferRecord,
  type TransferStatus,
  TransferTable,
  toTransferRecord,
} from './transfer-table.ts'

/** A transfer's record at its start; `done` resolves with the final record. */
export type RunningTransfer = TransferRecord & { done: Promise<TransferRecord> }

interface TransferParts {
  db: Db
  index: StorageIndex
  storages: Record<StorageName, Storage>
  events: EventJournal
  clock: SandboxClock
}

/** Copies files between storages chunk by chunk. A transfer can fail on request or be canceled. */
export class Transfers {
  readonly #parts: TransferParts
  readonly #table: TransferTable
  readonly #running = new Map<string, { cancel: AbortController; done: Promise<TransferRecord> }>()

  constructor(parts: TransferParts) {
    this.#parts = parts
    this.#table = new TransferTable(parts.db)
  }

  /** Fails the transfers that a stop or crash cut off, with a `transfer.failed` event each. */
  recover(): void {
    const error = { code: 'interrupted', message: 'The service stopped before the transfer was finished.' }
    for (const transfer of this.#table.open()) this.#finish({ ...transfer, error }, 'failed')
  }

  /**
   * Starts a transfer. Throws `not_found`, `conflict` or `invalid_request` before anything is
   * copied.
   */
  async start(input: TransferInput): Promise<RunningTransfer> {
    const { existing, failAt, ...ends } = transferInput.parse(input)
    const plan = planTransfer(ends, this.#parts)
    const now = this.#parts.clock.now()
    const { type, source, destination, filesTotal, bytesTotal } = plan
    const transfer: Transfer = {
      id: newId('trf', now),
      type,
      source,
      destination: { ...destination, fileId: null },
      existing,
      failAt,
      status: 'queued',
      filesTotal,
      filesDone: 0,
      filesKept: 0,
      bytesTotal,
      bytesDone: 0,
      createdAt: now,
      startedAt: null,
      finishedAt: null,
      error: null,
    }
    this.#table.save(transfer)
    const cancel = new AbortController()
    const done = this.#run(transfer, plan, cancel.signal).finally(() => this.#running.delete(transfer.id))
    // Where its end cannot be saved, it ends as failed at the next start.
    done.catch(() => {})
    this.#running.set(transfer.id, { cancel, done })
    return { ...toTransferRecord(transfer), done }
  }

  /** Oldest first, with their current progress. */
  list(): TransferRecord[] {
    return this.#table.list().map(toTransferRecord)
  }

  /** Number of transfers that have not ended. */
  countOpen(): number {
    return this.#table.open().length
  }

  /** A transfer with its current progress. Throws `not_found`. */
  get(id: string): TransferRecord {
    return toTransferRecord(this.#table.find(id) ?? notFound('transfer', id))
  }

  /**
   * Cancels a transfer: the current file is removed, finished ones stay. Throws `conflict` if it
   * has ended.
   */
  async cancel(id: string): Promise<TransferRecord> {
    this.get(id)
    const running = this.#running.get(id)
    if (!running) throw new UpshotError('conflict', `Transfer ${id} has already ended.`)
    running.cancel.abort()
    return running.done
  }

  /** Stops copying. The next start fails what is still open. */
  async stop(): Promise<void> {
    for (const { cancel } of this.#running.values()) cancel.abort(INTERRUPTED)
    await Promise.all([...this.#running.values()].map(({ done }) => done))
  }

  async #run(queued: Transfer, plan: TransferPlan, signal: AbortSignal): Promise<TransferRecord> {
    const transfer: Transfer = { ...queued, status: 'running', startedAt: this.#parts.clock.now() }
    this.#table.save(transfer)
    let at: string | null = null
    try {
      for (const [n, step] of plan.steps.entries()) {
        signal.throwIfAborted()
        at = step.from
        const isLast = n === plan.steps.length - 1
        const record = await this.#performStep(transfer, step, { signal, isLast })
        if (record) return record
      }
      return this.#finish(transfer, 'completed')
    } catch (error) {
      if (signal.aborted && signal.reason === INTERRUPTED) return toTransferRecord(transfer)
      const ending = describeEnd(error, signal, transfer.type === 'folder' ? at : null)
      return this.#finish({ ...transfer, error: ending }, signal.aborted ? 'canceled' : 'failed')
    }
  }

  /**
   * Copies one entry. The last entry and the end of the transfer are one transaction, whose record
   * is returned.
   */
  async #performStep(
    transfer: Transfer,
    step: TransferStep,
    { signal, isLast }: { signal: AbortSignal; isLast: boolean },
  ): Promise<TransferRecord | null> {
    const target = this.#parts.storages[transfer.destination.service]
    const arrive = (work: () => string | null) =>
      atomically(this.#parts.db, () => {
        const fileId = work()
        if (step.to === transfer.destination.path) transfer.destination = { ...transfer.destination, fileId }
        this.#table.save(transfer)
        return isLast ? this.#finish(transfer, 'completed') : null
      })
    if (step.type === 'folder') {
      await nextTurn()
      return arrive(() => target.makeFolder(step.to).id)
    }
    target.writablePath(step.to)
    if (transfer.existing === 'keep' && target.isTaken(step.to)) return arrive(() => this.#keep(transfer, step))
    const draft = target.draftPath()
    try {
      await this.#copy(transfer, { from: step.from, draft }, signal)
      return arrive(() => {
        const { id } = target.adopt(draft, step.to)
        transfer.filesDone++
        return id
      })
    } finally {
      rmSync(draft, { force: true })
    }
  }

  /** Counts an existing file as done. */
  #keep(transfer: Transfer, step: TransferStep): string | null {
    transfer.filesDone++
    transfer.filesKept++
    transfer.bytesDone += step.bytes
    return this.#parts.index.byPath(transfer.destination.service, step.to)?.id ?? null
  }

  /**
   * Copies one file, counting bytes in `transfer` as they arrive. Throws at the byte of `failAt`.
   */
  async #copy(
    transfer: Transfer,
    { from, draft }: { from: string; draft: string },
    signal: AbortSignal,
  ): Promise<void> {
    const { failAt, bytesTotal } = transfer
    const failAtByte = failAt === null ? Number.POSITIVE_INFINITY : Math.floor(bytesTotal * failAt)
    const source = this.#parts.storages[transfer.source.service].locate({ path: from })
    const mayCopy = () => {
      signal.throwIfAborted()
      if (transfer.bytesDone >= failAtByte) throw new RequestedFailure('The transfer failed on request (failAt).')
      return failAtByte - transfer.bytesDone
    }
    const onCopied = (bytes: number) => {
      transfer.bytesDone += bytes
      this.#table.save(transfer)
    }
    await copyFile({ from: source, to: draft }, { mayCopy, onCopied })
  }

  #finish(transfer: Transfer, status: Exclude<TransferStatus, 'queued' | 'running'>): TransferRecord {
    const finished = { ...transfer, status, finishedAt: this.#parts.clock.now() }
    const record = toTransferRecord(finished)
    atomically(this.#parts.db, () => {
      this.#table.save(finished)
      // The service documents no event for a canceled transfer.
      if (status !== 'canceled') this.#parts.events.emit(`transfer.${status}`, { transfer: record })
    })
    return record
  }
}

const INTERRUPTED = new Error('the sandbox stopped')

class RequestedFailure extends Error {}

/** `path`: the source path of a folder's transfer where it ended; null for a file's. */
function describeEnd(error: unknown, signal: AbortSignal, path: string | null): TransferError {
  const { code, message } = explainEnd(error, signal)
  return path === null ? { code, message } : { code, message: `${message} It was at ${path}.`, path }
}

function explainEnd(error: unknown, signal: AbortSignal): { code: string; message: string } {
  if (signal.aborted) return { code: 'canceled', message: 'The transfer was canceled.' }
  if (error instanceof RequestedFailure) return { code: 'service_error', message: error.message }
  if (error instanceof UpshotError) return { code: error.code, message: error.message }
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
    return { code: 'resource_not_found', message: 'The source vanished during the transfer.' }
  return { code: 'service_error', message: 'The storage service failed during the transfer.' }
}

const CHUNK_BYTES = 256 * 1024

/** Copies a file to a new path. `mayCopy` returns the bytes of the next chunk, or throws. */
async function copyFile(
  { from, to }: { from: string; to: string },
  { mayCopy, onCopied }: { mayCopy: () => number; onCopied: (bytes: number) => void },
): Promise<void> {
  await using source = await open(from)
  await using target = await open(to, 'wx')
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  for (;;) {
    const { bytesRead } = await source.read(chunk, 0, Math.min(CHUNK_BYTES, mayCopy()))
    if (bytesRead === 0) return
    await target.write(chunk, 0, bytesRead)
    onCopied(bytesRead)
  }
}
