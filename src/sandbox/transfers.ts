import { rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { z } from 'zod'
import { UpshotError } from '../core/errors.ts'
import { STORAGES, type StorageName } from '../core/file.ts'
import { newId } from '../core/ids.ts'
import type { SandboxClock } from './clock.ts'
import type { Db } from './database.ts'
import type { Entry } from './entry.ts'
import type { EventJournal } from './events.ts'
import { notFound } from './not-found.ts'
import { atomically } from './statement.ts'
import type { Storage } from './storage.ts'
import type { StorageIndex } from './storage-index.ts'
import { normalizePath } from './storage-path.ts'
import {
  type Transfer,
  type TransferRecord,
  type TransferStatus,
  TransferTable,
  toTransferRecord,
} from './transfer-record.ts'

const end = z.tuple([z.enum(STORAGES), z.string().min(1)])

/** From a file to a file, or into a folder where the path ends in `/` or names one. */
export const transferInput = z.strictObject({
  from: end,
  to: end,
  /** The part of the bytes after which it fails: 0 at once, 1 just before the end. Default: it does not fail. */
  failAt: z.number().min(0).max(1).nullable().default(null),
})
export type TransferInput = z.input<typeof transferInput>

/** A transfer under way: its record as it was at the start, and the record it ends with. */
export type RunningTransfer = TransferRecord & { done: Promise<TransferRecord> }

const CHUNK_BYTES = 256 * 1024

export interface TransferParts {
  db: Db
  index: StorageIndex
  storages: Record<StorageName, Storage>
  events: EventJournal
  clock: SandboxClock
}

/** Copies between storages: real bytes, chunk by chunk, told to fail or be canceled on the way. */
export class Transfers {
  readonly #parts: TransferParts
  readonly #table: TransferTable
  readonly #running = new Map<string, { cancel: AbortController; done: Promise<TransferRecord> }>()

  constructor(parts: TransferParts) {
    this.#parts = parts
    this.#table = new TransferTable(parts.db)
  }

  /** Ends those that the last stop or crash cut off as failed, with an event each. */
  recover(): void {
    const error = { code: 'interrupted', message: 'The service stopped before the transfer was finished.' }
    for (const transfer of this.#table.open()) this.#finish({ ...transfer, error }, 'failed')
  }

  /** Starts a copy. Throws `not_found` or `invalid_request` when there is nothing to copy or nowhere to. */
  async start(input: TransferInput): Promise<RunningTransfer> {
    const { from, to, failAt } = transferInput.parse(input)
    const source = this.#sourceOf(from)
    const path = this.#destinationOf(to, source)
    const now = this.#parts.clock.now()
    const transfer: Transfer = {
      id: newId('trf', now),
      source: { service: source.storage, path: source.path, fileId: source.id },
      destination: { service: to[0], path, fileId: null },
      status: 'queued',
      failAt,
      bytesTotal: source.size ?? 0,
      bytesDone: 0,
      createdAt: now,
      startedAt: null,
      finishedAt: null,
      error: null,
    }
    this.#table.save(transfer)
    const cancel = new AbortController()
    const done = this.#run(transfer, source, cancel.signal).finally(() => this.#running.delete(transfer.id))
    this.#running.set(transfer.id, { cancel, done })
    return { ...toTransferRecord(transfer), done }
  }

  /** Oldest first, with the progress made so far. */
  list(): TransferRecord[] {
    return this.#table.list().map(toTransferRecord)
  }

  /** Throws `not_found`. */
  get(id: string): TransferRecord {
    return toTransferRecord(this.#table.find(id) ?? notFound('transfer', id))
  }

  /** Stops a transfer; what has arrived is removed. Throws `conflict` when it has ended. */
  async cancel(id: string): Promise<TransferRecord> {
    this.get(id)
    const running = this.#running.get(id)
    if (!running) throw new UpshotError('conflict', `Transfer ${id} has already ended.`)
    running.cancel.abort()
    return running.done
  }

  /** Leaves what is under way to the next start, which ends it as failed. */
  async stop(): Promise<void> {
    for (const { cancel } of this.#running.values()) cancel.abort(INTERRUPTED)
    await Promise.all([...this.#running.values()].map(({ done }) => done))
  }

  #sourceOf([storage, path]: [StorageName, string]): Entry {
    const entry = this.#parts.index.byPath(storage, normalizePath(path))
    if (entry?.type === 'file') return entry
    throw new UpshotError('not_found', `There is no file at ${path} in ${storage} to transfer.`)
  }

  #destinationOf([storage, path]: [StorageName, string], source: Entry): string {
    const target = normalizePath(path)
    const isFolder = path.endsWith('/') || this.#parts.index.byPath(storage, target)?.type === 'folder'
    const full = this.#parts.storages[storage].writablePath(isFolder ? `${target}/${source.name}` : target)
    if (storage === source.storage && full === source.path)
      throw new UpshotError('invalid_request', 'A file cannot be transferred onto itself.')
    return full
  }

  async #run(queued: Transfer, source: Entry, signal: AbortSignal): Promise<TransferRecord> {
    const transfer: Transfer = { ...queued, status: 'running', startedAt: this.#parts.clock.now() }
    this.#table.save(transfer)
    const target = this.#parts.storages[transfer.destination.service]
    const draft = target.draftPath()
    try {
      await this.#copy(transfer, this.#parts.storages[source.storage].locate(source), draft, signal)
      return atomically(this.#parts.db, () => {
        const { id } = target.adopt(draft, transfer.destination.path)
        return this.#finish({ ...transfer, destination: { ...transfer.destination, fileId: id } }, 'completed')
      })
    } catch (error) {
      rmSync(draft, { force: true })
      if (signal.aborted && signal.reason === INTERRUPTED) return toTransferRecord(transfer)
      return this.#finish({ ...transfer, error: describeEnd(error, signal) }, signal.aborted ? 'canceled' : 'failed')
    }
  }

  /** Counts the bytes in `transfer` as they arrive; throws at the byte it was told to fail at. */
  async #copy(transfer: Transfer, from: string, to: string, signal: AbortSignal): Promise<void> {
    const failAtByte =
      transfer.failAt === null ? Number.POSITIVE_INFINITY : Math.floor(transfer.bytesTotal * transfer.failAt)
    await using source = await open(from)
    await using target = await open(to, 'wx')
    const chunk = Buffer.alloc(CHUNK_BYTES)
    for (;;) {
      signal.throwIfAborted()
      if (transfer.bytesDone >= failAtByte) throw new ToldToFail('The transfer was told to fail here.')
      const most = Math.min(CHUNK_BYTES, failAtByte - transfer.bytesDone)
      const { bytesRead } = await source.read(chunk, 0, most)
      if (bytesRead === 0) return
      await target.write(chunk, 0, bytesRead)
      transfer.bytesDone += bytesRead
      this.#table.save(transfer)
    }
  }

  #finish(transfer: Transfer, status: Exclude<TransferStatus, 'queued' | 'running'>): TransferRecord {
    const finished = { ...transfer, status, finishedAt: this.#parts.clock.now() }
    const record = toTransferRecord(finished)
    atomically(this.#parts.db, () => {
      this.#table.save(finished)
      // Nothing announces a canceled transfer: the service knows two kinds of event only.
      if (status !== 'canceled') this.#parts.events.emit(`transfer.${status}`, { transfer: record })
    })
    return record
  }
}

const INTERRUPTED = new Error('the sandbox stopped')

class ToldToFail extends Error {}

function describeEnd(error: unknown, signal: AbortSignal): { code: string; message: string } {
  if (signal.aborted) return { code: 'canceled', message: 'The transfer was canceled.' }
  if (error instanceof ToldToFail) return { code: 'service_error', message: error.message }
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
    return { code: 'resource_not_found', message: 'The source vanished during the transfer.' }
  return { code: 'service_error', message: 'The storage service failed during the transfer.' }
}
