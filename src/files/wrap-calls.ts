import type { Caller } from '../core/notices.ts'
import type { Downloadable, FileDetails, FileEntry, FileHash, FilePlace, FileRef } from '../core/service/file.ts'
import type {
  CallLimits,
  DeleteOptions,
  DeleteOutcome,
  DownloadedFile,
  DownloadUrl,
  FileCall,
  FilesApi,
  ListQuery,
  WrapCall,
} from '../core/service/files-api.ts'
import type { FilesLogLine } from './log-line.ts'
import type { Collection, FilePage, FileQuery } from './operations/listing/file-page.ts'
import { iterateEntries, iteratePages } from './operations/listing/iterate.ts'
import { markPage, takeSnapshot } from './operations/listing/snapshot.ts'

/** The part of a client whose calls go to the service. */
interface WrappedClient {
  list(query: FileQuery, options: Abortable): Promise<FilePage>
  listAnew(query: FileQuery, options: Abortable): Promise<FilePage>
  find(place: FilePlace, options: Abortable): Promise<FileEntry | null>
  get(file: FileRef, options: Abortable): Promise<FileDetails>
  downloadUrl(file: FileRef, options: Abortable): Promise<DownloadUrl>
  download(file: Downloadable, options: Abortable & { to: string }): Promise<DownloadedFile>
  hash(file: Downloadable, options: Abortable): Promise<FileHash | null>
  delete(file: FileRef, options: Abortable & DeleteOptions & { mayBeGone?: boolean }): Promise<DeleteOutcome>
}

interface Abortable {
  signal: AbortSignal
  caller?: Caller | undefined
}

/**
 * A client that passes every call to the service through `wrap`: inside a run, as a step of its
 * own. Each page of a listing is one call, so a listing continues at its next page after a crash.
 */
export function wrapCalls(
  openClient: () => WrappedClient | Promise<WrappedClient>,
  wrap: WrapCall,
  log: (line: FilesLogLine) => void,
): FilesApi {
  const list = (query: FileQuery, limits: CallLimits = {}): Promise<FilePage> =>
    wrap(read('list', pageTarget(query), limits), async (signal, caller) =>
      (await openClient()).list(query, { signal, caller }),
    )
  const mark = (query: FileQuery, limits: CallLimits) =>
    wrap(read('list', pageTarget(query), limits), async (signal, caller) =>
      markPage(await (await openClient()).listAnew(query, { signal, caller })),
    )
  const pages = (collection: Collection, limits?: CallLimits) =>
    iteratePages((query) => list(query, limits), collection, log)
  return {
    list,
    iterate: (collection, limits) => iterateEntries(pages(collection, limits)),
    snapshot: (collection, { max, verify, ...limits } = {}) =>
      takeSnapshot(
        // The journal keeps the entries of the first look, and only a hash of the second.
        { list: (query) => list(query, limits), mark: (query) => mark(query, limits) },
        collection,
        { ...(max !== undefined && { max }), ...(verify !== undefined && { verify }) },
      ),
    find: (place, limits) =>
      wrap(read('find', placeTarget(place), limits), async (signal, caller) =>
        (await openClient()).find(place, { signal, caller }),
      ),
    get: (file, limits) =>
      wrap(read('get', fileTarget(file), limits), async (signal, caller) =>
        (await openClient()).get(file, { signal, caller }),
      ),
    downloadUrl: (file, limits) =>
      wrap({ ...read('downloadUrl', fileTarget(file), limits), keep: false }, async (signal, caller) =>
        (await openClient()).downloadUrl(file, { signal, caller }),
      ),
    download: (file, options) => {
      const { rest, limits } = splitLimits(options)
      return wrap(read('download', fileTarget(file), limits), async (signal, caller) =>
        (await openClient()).download(file, { ...rest, signal, caller }),
      )
    },
    hash: (file, limits) =>
      wrap(read('hash', fileTarget(file), limits), async (signal, caller) =>
        (await openClient()).hash(file, { signal, caller }),
      ),
    delete: (file, options = {}) => {
      const { rest, limits } = splitLimits(options)
      const call: FileCall = { ...read('delete', fileTarget(file), limits), effect: 'delete' }
      return wrap(call, async (signal, caller, hasAsked = false) =>
        (await openClient()).delete(file, { ...rest, signal, caller, ...(hasAsked && { mayBeGone: true }) }),
      )
    },
  }
}

/** Attempts and time belong to the step; the other options belong to the client. */
function splitLimits<T extends CallLimits>({ retry, timeout, ...rest }: T) {
  return { rest, limits: { ...(retry && { retry }), ...(timeout !== undefined && { timeout }) } satisfies CallLimits }
}

function read(operation: FileCall['operation'], target: string, given: CallLimits = {}): FileCall {
  return { operation, effect: 'read', target, keep: true, limits: splitLimits(given).limits }
}

function fileTarget({ service, id }: FileRef): string {
  return `${service}:${id}`
}

function placeTarget({ service, id, path = '' }: FilePlace): string {
  return `${service}:${id ?? path}`
}

function pageTarget({ service, path = '/', page = 1 }: ListQuery): string {
  return page === 1 ? `${service}:${path}` : `${service}:${path}?page=${page}`
}
