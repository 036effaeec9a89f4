import type { FileDetails, FileEntry, FileHash, FilePlace, FileRef } from '../core/service/file.ts'
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
import { type Collection, iterateEntries, iteratePages, takeSnapshot } from './operations/iterate.ts'
import type { FilePage, FileQuery } from './operations/list-page.ts'

/** The calls of a client that go to the service; each takes a signal that aborts it. */
interface WrappedClient {
  list(query: FileQuery, options: Abortable): Promise<FilePage>
  find(place: FilePlace, options: Abortable): Promise<FileEntry | null>
  get(file: FileRef, options: Abortable): Promise<FileDetails>
  downloadUrl(file: FileRef, options: Abortable): Promise<DownloadUrl>
  download(file: FileRef & { size?: number | null }, options: Abortable & { to: string }): Promise<DownloadedFile>
  hash(file: FileRef, options: Abortable): Promise<FileHash | null>
  delete(file: FileRef, options: Abortable & DeleteOptions): Promise<DeleteOutcome>
}

interface Abortable {
  signal: AbortSignal
}

/**
 * A client with every call to the service performed through `around`: inside a run, as a step of
 * its own. What is made of several calls stays made of them, so a listing that a crash interrupts
 * goes on at its next page. `find` gives the client; it is asked within each call, so a client that
 * cannot be had fails the call and not the run.
 */
export function wrapCalls(
  find: () => WrappedClient | Promise<WrappedClient>,
  around: WrapCall,
  log: (line: FilesLogLine) => void,
): FilesApi {
  const list = (query: FileQuery, limits: CallLimits = {}): Promise<FilePage> =>
    around(read('list', pageTarget(query), limits), async (signal) => (await find()).list(query, { signal }))
  const pages = (collection: Collection, limits?: CallLimits) =>
    iteratePages((query) => list(query, limits), collection, log)
  return {
    list,
    iterate: (collection, limits) => iterateEntries(pages(collection, limits)),
    snapshot: (collection, { max, ...limits } = {}) => takeSnapshot(pages(collection, limits), max),
    find: (place, limits) =>
      around(read('find', placeTarget(place), limits), async (signal) => (await find()).find(place, { signal })),
    get: (file, limits) =>
      around(read('get', fileTarget(file), limits), async (signal) => (await find()).get(file, { signal })),
    downloadUrl: (file, limits) =>
      around({ ...read('downloadUrl', fileTarget(file), limits), keep: false }, async (signal) =>
        (await find()).downloadUrl(file, { signal }),
      ),
    download: (file, options) => {
      const { rest, limits } = splitLimits(options)
      return around(read('download', fileTarget(file), limits), async (signal) =>
        (await find()).download(file, { ...rest, signal }),
      )
    },
    hash: (file, limits) =>
      around(read('hash', fileTarget(file), limits), async (signal) => (await find()).hash(file, { signal })),
    delete: (file, options = {}) => {
      const { rest, limits } = splitLimits(options)
      const call: FileCall = { ...read('delete', fileTarget(file), limits), effect: 'delete' }
      return around(call, async (signal) => (await find()).delete(file, { ...rest, signal }))
    },
  }
}

/** Tries and time of a step are the engine's matter; what is left is the client's. */
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
