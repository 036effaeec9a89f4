import type { Downloadable, FileDetails, FileEntry, FileHash, FilePlace, FileRef } from '../core/service/file.ts'
import type {
  DeleteAllOptions,
  DeletedFiles,
  DeleteOutcome,
  DownloadedFile,
  FilesApi,
  Snapshot,
  SnapshotOptions,
} from '../core/service/files-api.ts'
import type { StorageName } from '../core/service/storage.ts'
import { type ClientParts, createClientParts } from './call/client-parts.ts'
import { isProvenMissing } from './call/decide-resend.ts'
import { type CallOptions, OpenCalls } from './call/open-calls.ts'
import { type FilesClientOptions, lacksVersion } from './call/options.ts'
import { TargetQueue } from './disk/target-queue.ts'
import type { Operation } from './errors.ts'
import { canDelete, type DeleteRequest, deleteFile } from './operations/delete.ts'
import { deleteAll } from './operations/delete-all.ts'
import { type DownloadRequest, downloadFile } from './operations/download.ts'
import { findEntry } from './operations/find.ts'
import { type DownloadUrl, fetchDownloadUrl, getDetails } from './operations/get.ts'
import { iterateEntries, iteratePages } from './operations/listing/iterate.ts'
import {
  type Collection,
  type FilePage,
  type FileQuery,
  type ListForms,
  listPage,
  pageKey,
} from './operations/listing/list-page.ts'
import { markPage, takeSnapshot } from './operations/listing/snapshot.ts'
import { matchStorage } from './operations/match-storage.ts'
import { hashFile, streamBytes } from './operations/stream.ts'

/**
 * Makes a client of the Files API. It reads both forms of the API and throws only `FilesError` and
 * errors of the local disk.
 */
export function createFilesClient(options: FilesClientOptions): FilesClient {
  return new FilesClient(options)
}

/**
 * A client of the Files API. It holds no connection open, so a process may end without `stop()`.
 */
export class FilesClient implements FilesApi {
  readonly #parts: ClientParts
  readonly #calls: OpenCalls
  readonly #forms: ListForms
  readonly #targets = new TargetQueue()
  /** Running iterations per storage: a delete meanwhile makes their pages skip entries. */
  readonly #iterations = new Map<string, number>()

  constructor(options: FilesClientOptions) {
    this.#parts = createClientParts(options)
    this.#calls = new OpenCalls(this.#parts)
    this.#forms = { current: this.#parts.settings.listForm }
    if (lacksVersion(this.#parts.settings.baseUrl)) {
      this.#parts.log({ kind: 'warning', message: 'The base address does not end with a version such as "/v1".' })
    }
  }

  /** One page of entries, newest first unless `sort` says otherwise. */
  async list(given: FileQuery, options: CallOptions = {}): Promise<FilePage> {
    const query = this.#named(given, 'list')
    return this.#calls.share({ operation: 'list', service: query.service }, pageKey(query), options, (call) =>
      listPage(this.#parts, call, query, this.#forms),
    )
  }

  /** Like {@link list}, and never the reply to an equal call that was under way before. */
  async listAnew(given: FileQuery, options: CallOptions = {}): Promise<FilePage> {
    const query = this.#named(given, 'list')
    return this.#calls.run({ operation: 'list', service: query.service }, options, (call) =>
      listPage(this.#parts, call, query, this.#forms),
    )
  }

  /** The pages of a collection, oldest entries first, each id once. */
  async *pages(given: Collection, options: CallOptions = {}): AsyncGenerator<FilePage> {
    const collection = this.#named(given, 'list')
    using _ = this.#beginListing(collection)
    yield* iteratePages((query) => this.list(query, options), collection, this.#parts.log)
  }

  /** The entries of a collection, oldest first, each id once. */
  iterate(collection: Collection, options: CallOptions = {}): AsyncGenerator<FileEntry> {
    return iterateEntries(this.pages(collection, options))
  }

  /** Reads all pages before it resolves, and says whether they are known to be all. */
  async snapshot(
    given: Collection,
    { max, verify, ...options }: CallOptions & SnapshotOptions = {},
  ): Promise<Snapshot> {
    const collection = this.#named(given, 'list')
    using _ = this.#beginListing(collection)
    const reader = {
      list: (query: FileQuery) => this.list(query, options),
      mark: async (query: FileQuery) => markPage(await this.listAnew(query, options)),
    }
    return takeSnapshot(reader, collection, { max, verify })
  }

  /** The entry at a place; null when the service proves that there is none. */
  async find(given: FilePlace, options: CallOptions = {}): Promise<FileEntry | null> {
    const { service, ...place } = this.#named(given, 'find')
    return findEntry(place, {
      get: (id) => this.get({ service, id }, options),
      snapshot: (path, bounds) => this.snapshot({ service, path }, { ...options, ...bounds }),
    })
  }

  /** The details of one entry. */
  async get(given: FileRef, options: CallOptions = {}): Promise<FileDetails> {
    const file = this.#named(given, 'get')
    return this.#calls.share(asked('get', file), file.id, options, (call) => getDetails(this.#parts, call, file))
  }

  /** A fresh temporary address of the file's bytes. */
  async downloadUrl(given: FileRef, options: CallOptions = {}): Promise<DownloadUrl> {
    const file = this.#named(given, 'download_url')
    return this.#calls.share(asked('download_url', file), file.id, options, (call) =>
      fetchDownloadUrl(this.#parts, call, file),
    )
  }

  /** Writes the file's bytes to `to`, atomically. Downloads to one path run one after the other. */
  async download(given: Downloadable, options: DownloadRequest & CallOptions): Promise<DownloadedFile> {
    const file = this.#named(given, 'download')
    return this.#calls.run(asked('download', file), options, (call) =>
      this.#targets.run(options.to, call.signal, () => {
        call.deadlineAt = this.#parts.settings.clock.now() + call.totalMs
        return downloadFile(this.#parts, call, file, options)
      }),
    )
  }

  /** The file's bytes in order from `from` on, also over broken connections and expired URLs. */
  async *stream(
    given: Downloadable,
    { from = 0, ...options }: CallOptions & { from?: number } = {},
  ): AsyncGenerator<Uint8Array> {
    const file = this.#named(given, 'download')
    yield* this.#calls.stream(asked('download', file), options, (call) => streamBytes(this.#parts, call, file, from))
  }

  /**
   * Length and SHA-256 of the file's bytes; keeps none. Null when the service proves that there is
   * no such file.
   */
  async hash(given: Downloadable, options: CallOptions = {}): Promise<FileHash | null> {
    const file = this.#named(given, 'hash')
    try {
      return await this.#calls.run(asked('hash', file), options, (call) => hashFile(this.#parts, call, file))
    } catch (error) {
      if (isProvenMissing(error)) return null
      throw error
    }
  }

  /** Deletes one entry for good and resolves to the outcome. */
  async delete(
    given: FileRef & { type?: 'file' | 'folder' },
    options: DeleteRequest & CallOptions = {},
  ): Promise<DeleteOutcome> {
    const file = this.#named(given, 'delete')
    if ((this.#iterations.get(file.service) ?? 0) > 0) {
      const message =
        'A delete during a listing of the same storage makes its pages skip entries. Use snapshot() first.'
      this.#parts.log({ kind: 'warning', service: file.service, message })
    }
    return this.#calls.run(asked('delete', file), options, (call) => deleteFile(this.#parts, call, file, options))
  }

  /** Deletes many files, each only while it is as given. The guard of a run is not asked. */
  deleteAll(files: Iterable<FileEntry>, options: DeleteAllOptions & CallOptions = {}): Promise<DeletedFiles> {
    const { of, ...rest } = options
    return deleteAll(files, of ? { of } : {}, (file) => this.delete(file, { ...rest, expect: file }))
  }

  /**
   * Whether the key may delete in a storage. It asks for the deletion of a random id, which no
   * entry has.
   */
  canDelete(storage: StorageName, options: CallOptions = {}): Promise<boolean> {
    const { service } = this.#named({ service: storage }, 'delete')
    return this.#calls.run({ operation: 'delete', service }, options, (call) => canDelete(this.#parts, call))
  }

  /**
   * Ends all calls with `AbortedError` and refuses new ones. Resolves when nothing is sent or
   * written any more.
   */
  stop(): Promise<void> {
    return this.#calls.stop()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  /** Counts a listing of a storage until the result is disposed of. */
  #beginListing({ service }: Collection): Disposable {
    const count = (by: number) => this.#iterations.set(service, (this.#iterations.get(service) ?? 0) + by)
    count(1)
    return { [Symbol.dispose]: () => void count(-1) }
  }

  /** Replaces the service's spelling of a storage by our own: events carry the service's. */
  #named<T extends { service: StorageName }>(given: T, operation: Operation): T {
    return { ...given, service: matchStorage(this.#parts.settings.services, given.service, { operation }) }
  }
}

/** The part of a call on one file that its log line names. */
function asked(operation: Operation, { service, id }: FileRef) {
  return { operation, service, id }
}
