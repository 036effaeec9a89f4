import type { FileDetails, FileEntry, FileHash, FilePlace, FileRef } from '../core/service/file.ts'
import type { DeleteOutcome, DownloadedFile, FilesApi, Snapshot, WrapCall } from '../core/service/files-api.ts'
import type { StorageName } from '../core/service/storage.ts'
import type { ClientParts } from './call/call.ts'
import { isProvenMissing } from './call/decide-resend.ts'
import { KeyRing } from './call/key-ring.ts'
import { type CallOptions, OpenCalls } from './call/open-calls.ts'
import { type FilesClientOptions, lacksVersion, resolveSettings } from './call/options.ts'
import { RetryQuota } from './call/retry-quota.ts'
import { KeptHashes } from './disk/kept-hashes.ts'
import { TargetQueue } from './disk/target-queue.ts'
import type { Operation } from './errors.ts'
import { Limiter } from './limit/limiter.ts'
import { memoryLimiterStore } from './limit/limiter-store.ts'
import { type DeleteRequest, deleteFile } from './operations/delete.ts'
import { type Downloadable, type DownloadRequest, downloadFile } from './operations/download.ts'
import { type DownloadUrl, fetchDownloadUrl } from './operations/download-url.ts'
import { findEntry } from './operations/find.ts'
import { getDetails } from './operations/get.ts'
import { hashFile } from './operations/hash.ts'
import { type Collection, iterateEntries, iteratePages, takeSnapshot } from './operations/iterate.ts'
import { type FilePage, type FileQuery, type ListForms, listPage, pageKey } from './operations/list-page.ts'
import { matchStorage } from './operations/match-storage.ts'
import { streamBytes } from './operations/stream.ts'
import type { Secret } from './secret.ts'
import { wrapCalls } from './wrap-calls.ts'

/**
 * A client of the service's Files API. Reads both of its forms; throws nothing but `FilesError`,
 * and what local disks throw.
 */
export function createFilesClient(options: FilesClientOptions): FilesClient {
  return new FilesClient(options)
}

/**
 * See {@link createFilesClient}. Holds no connection of its own, so it need not be stopped to let
 * the process end.
 */
export class FilesClient implements FilesApi {
  readonly #wire: ClientParts
  readonly #desk: OpenCalls
  readonly #forms: ListForms
  readonly #targets = new TargetQueue()
  /** Iterations that run, per storage: deleting meanwhile makes their pages skip entries. */
  readonly #iterations = new Map<string, number>()

  constructor(options: FilesClientOptions) {
    this.#wire = createWire(options)
    this.#desk = new OpenCalls(this.#wire)
    this.#forms = { current: this.#wire.settings.listForm }
    if (lacksVersion(this.#wire.settings.baseUrl)) {
      this.#wire.log({
        kind: 'warning',
        message: 'The base address does not end with a version segment such as "/v1".',
      })
    }
  }

  /** One page; newest first unless `sort` says otherwise. */
  async list(given: FileQuery, options: CallOptions = {}): Promise<FilePage> {
    const query = this.#named(given, 'list')
    const asked = { operation: 'list', service: query.service } as const
    return this.#desk.share(asked, pageKey(query), options, (call) => listPage(this.#wire, call, query, this.#forms))
  }

  /** The pages of a collection, oldest entries first, each id once. */
  async *pages(given: Collection, options: CallOptions = {}): AsyncGenerator<FilePage> {
    const collection = this.#named(given, 'list')
    const { service } = collection
    this.#iterations.set(service, (this.#iterations.get(service) ?? 0) + 1)
    try {
      yield* iteratePages((query) => this.list(query, options), collection, this.#wire.log)
    } finally {
      this.#iterations.set(service, (this.#iterations.get(service) ?? 1) - 1)
    }
  }

  iterate(collection: Collection, options: CallOptions = {}): AsyncGenerator<FileEntry> {
    return iterateEntries(this.pages(collection, options))
  }

  /** `max` counts entries; default 50,000. */
  snapshot(collection: Collection, options: CallOptions & { max?: number } = {}): Promise<Snapshot> {
    return takeSnapshot(this.pages(collection, options), options.max)
  }

  /** The entry at a place as it is now; null when the service proves that there is none. */
  async find(given: FilePlace, options: CallOptions = {}): Promise<FileEntry | null> {
    const { service, ...place } = this.#named(given, 'find')
    return findEntry(place, {
      get: (id) => this.get({ service, id }, options),
      iterate: (path) => this.iterate({ service, path }, options),
    })
  }

  async get(given: FileRef, options: CallOptions = {}): Promise<FileDetails> {
    const file = this.#named(given, 'get')
    const asked = { operation: 'get', service: file.service, id: file.id } as const
    return this.#desk.share(asked, file.id, options, (call) => getDetails(this.#wire, call, file))
  }

  /** A fresh temporary address of the file's bytes. */
  async downloadUrl(given: FileRef, options: CallOptions = {}): Promise<DownloadUrl> {
    const file = this.#named(given, 'download_url')
    const asked = { operation: 'download_url', service: file.service, id: file.id } as const
    return this.#desk.share(asked, file.id, options, (call) => fetchDownloadUrl(this.#wire, call, file))
  }

  /**
   * Writes the file's bytes to a path, atomically. A second download to the same path waits for the
   * first.
   */
  async download(given: Downloadable, options: DownloadRequest & CallOptions): Promise<DownloadedFile> {
    const file = this.#named(given, 'download')
    return this.#desk.run({ operation: 'download', service: file.service, id: file.id }, options, (call) =>
      this.#targets.run(options.to, call.signal, () => {
        call.deadlineAt = this.#wire.settings.clock.now() + call.totalMs
        return downloadFile(this.#wire, call, file, options)
      }),
    )
  }

  /** The file's bytes in order, over broken connections and expired URLs too. */
  async *stream(given: FileRef & { size?: number | null }, options: CallOptions = {}): AsyncGenerator<Uint8Array> {
    const file = this.#named(given, 'download')
    yield* this.#desk.stream({ operation: 'download', service: file.service, id: file.id }, options, (call) =>
      streamBytes(this.#wire, call, file),
    )
  }

  /**
   * Length and hash of the file's bytes, none of which is kept; null when the service proves that
   * there is no such file.
   */
  async hash(given: FileRef, options: CallOptions = {}): Promise<FileHash | null> {
    const file = this.#named(given, 'hash')
    try {
      return await this.#desk.run({ operation: 'hash', service: file.service, id: file.id }, options, (call) =>
        hashFile(this.#wire, call, file),
      )
    } catch (error) {
      if (isProvenMissing(error)) return null
      throw error
    }
  }

  /** Deletes one entry for good; what came of it is the outcome. */
  async delete(
    given: FileRef & { type?: 'file' | 'folder' },
    options: DeleteRequest & CallOptions = {},
  ): Promise<DeleteOutcome> {
    const file = this.#named(given, 'delete')
    if ((this.#iterations.get(file.service) ?? 0) > 0) {
      const message =
        'A delete while the same storage is being listed makes its pages skip entries; use snapshot() first.'
      this.#wire.log({ kind: 'warning', service: file.service, message })
    }
    return this.#desk.run({ operation: 'delete', service: file.service, id: file.id }, options, (call) =>
      deleteFile(this.#wire, call, file, options),
    )
  }

  /**
   * The same client with each of its calls performed through `around`: inside a run, as a durable
   * step.
   */
  within(around: WrapCall): FilesApi {
    return wrapCalls(() => this, around, this.#wire.log)
  }

  /**
   * Ends all calls with `AbortedError` and refuses new ones; resolves when nothing more is sent or
   * written.
   */
  stop(): Promise<void> {
    return this.#desk.stop()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  /**
   * The same with our own name of the storage: what comes out of an event names it as the service
   * does.
   */
  #named<T extends { service: StorageName }>(given: T, operation: Operation): T {
    return { ...given, service: matchStorage(this.#wire.settings.services, given.service, { operation }) }
  }
}

function createWire(options: FilesClientOptions): ClientParts {
  const settings = resolveSettings(options)
  const { clock, limit } = settings
  const sources = options.fallbackKey === undefined ? [options.apiKey] : [options.apiKey, options.fallbackKey]
  const store = options.limiter ?? memoryLimiterStore()
  const limiters = new Map<string, Limiter>()
  return {
    settings,
    keys: new KeyRing(sources),
    limiterOf: (secret: Secret) => {
      const key = secret.fingerprint()
      const limiter = limiters.get(key) ?? new Limiter({ key, store, clock, limit })
      limiters.set(key, limiter)
      return limiter
    },
    quota: new RetryQuota(clock, settings.retry.quota),
    partHashes: new KeptHashes(),
    log: options.log ?? (() => {}),
  }
}
