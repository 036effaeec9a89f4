import type { Caller } from '../core/notices.ts'
import { type Asked, askedOf, type FileBefore, type FileState, toState } from '../core/safety/effect.ts'
import { type FolderCount, folderOf, foldersAbove } from '../core/safety/folders.ts'
import type { Downloadable, FileDetails, FileEntry, FileHash, FilePlace, FileRef } from '../core/service/file.ts'
import type {
  CallFacts,
  CallLimits,
  DeleteOptions,
  DeleteOutcome,
  DeletePermit,
  DownloadedFile,
  DownloadUrl,
  FileCall,
  FilesApi,
  ListQuery,
  WrapCall,
} from '../core/service/files-api.ts'
import type { FilesLogLine } from './log-line.ts'
import type { DeleteRequest } from './operations/delete.ts'
import { deleteAll } from './operations/delete-all.ts'
import { iterateEntries, iteratePages } from './operations/listing/iterate.ts'
import type { Collection, FilePage, FileQuery } from './operations/listing/list-page.ts'
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
  delete(file: FileRef, options: Abortable & DeleteRequest): Promise<DeleteOutcome>
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
  deletesAtOnce?: number,
): FilesApi {
  const seen = new SeenEntries()
  const ask = <T>(call: FileCall, perform: (client: WrappedClient, options: Abortable) => Promise<T>): Promise<T> =>
    wrap(call, async ({ signal, caller }) => perform(await openClient(), { signal, caller }))
  const list = async (query: FileQuery, limits: CallLimits = {}): Promise<FilePage> => {
    const page = await ask(read('list', pageTarget(query), limits), (client, options) => client.list(query, options))
    for (const entry of page.items) seen.list(entry)
    return page
  }
  const mark = (query: FileQuery, limits: CallLimits) =>
    ask(read('list', pageTarget(query), limits), async (client, options) =>
      markPage(await client.listAnew(query, options)),
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
        { max, verify },
      ),
    find: async (place, limits) => {
      const call = read('find', placeTarget(place), limits)
      const found = await ask(call, (client, options) => client.find(place, options))
      if (found !== null) seen.note(found)
      return found
    },
    get: async (file, limits) => {
      const details = await ask(read('get', fileTarget(file), limits), (client, options) => client.get(file, options))
      seen.note(details)
      return details
    },
    downloadUrl: (file, limits) =>
      ask({ ...read('downloadUrl', fileTarget(file), limits), keep: false }, (client, options) =>
        client.downloadUrl(file, options),
      ),
    download: (file, given) => {
      const { rest, limits } = splitLimits(given)
      const call = read('download', fileTarget(file), limits)
      const downloaded = ask(call, (client, options) => client.download(file, { ...rest, ...options }))
      return seen.whileHashing(file, downloaded)
    },
    hash: (file, limits) => {
      const call = read('hash', fileTarget(file), limits)
      return seen.whileHashing(
        file,
        ask(call, (client, options) => client.hash(file, options)),
      )
    },
    ...wrapDeletes(openClient, wrap, { seen, atOnce: deletesAtOnce }),
  }
}

/** The deletes of a client. Each tells the guard what the run knows of its file. */
function wrapDeletes(
  openClient: () => WrappedClient | Promise<WrappedClient>,
  wrap: WrapCall,
  { seen, atOnce }: { seen: SeenEntries; atOnce: number | undefined },
): Pick<FilesApi, 'delete' | 'deleteAll'> {
  const remove = (
    file: FileRef,
    options: CallLimits & DeleteOptions = {},
    more: Pick<CallFacts, 'list'> = {},
  ): Promise<DeleteOutcome> => {
    const { rest, limits } = splitLimits(options)
    const target = fileTarget(file)
    const look = async (signal: AbortSignal) => {
      const found = await (await openClient()).find(file, { signal })
      return found && askedOf(found)
    }
    // Read once: code may change the object before the delete begins.
    const expect = toExpected(rest.expect)
    const facts = {
      asked: seen.asked(target),
      listedAbove: (path: string | null) => seen.listedAbove(file.service, path),
      expect,
      look,
      isFolderAllowed: rest.allowFolder === true,
      ...more,
    }
    const call: FileCall = { ...read('delete', target, limits), effect: 'delete', facts }
    return wrap(call, async ({ signal, caller, permit }) =>
      (await openClient()).delete(file, { ...rest, ...applyPermit(expect, permit, seen), signal, caller }),
    )
  }
  return {
    delete: (file, options) => remove(file, options),
    deleteAll: (files, { of, ...limits } = {}) => {
      const ways = { ...(of && { of }), ...(atOnce !== undefined && { atOnce }) }
      const list = { files: 0 }
      return deleteAll(files, ways, (file, count) => {
        list.files = count
        return remove(file, { ...limits, expect: file }, { list })
      })
    },
  }
}

/** The entries that a run has read, in this pass and by replay. */
class SeenEntries {
  readonly #byTarget = new Map<string, Asked>()
  /** By storage and id, the folder of each file that was listed. */
  readonly #listed = new Map<string, Map<string, string>>()
  /** By storage, the files in each folder and below it. */
  readonly #counts = new Map<string, Map<string, number>>()
  /** Hashes of bytes, with the date of the file that was read. */
  readonly #hashes = new Map<string, { sha256: string; bytes: number; modifiedAt: string }>()

  note(entry: FileEntry): void {
    this.#byTarget.set(fileTarget(entry), askedOf(entry))
  }

  list(entry: FileEntry): void {
    this.note(entry)
    if (entry.type === 'folder') return
    const { service, id, path } = entry
    const files = this.#listed.get(service) ?? new Map<string, string>()
    const counts = this.#counts.get(service) ?? new Map<string, number>()
    const [before, folder] = [files.get(id) ?? null, folderOf(path) ?? '/']
    if (before === folder) return
    const add = (to: string, count: number) => {
      for (const each of foldersAbove(to)) counts.set(each, (counts.get(each) ?? 0) + count)
    }
    // A file that was moved counts where it was listed last.
    if (before !== null) add(before, -1)
    add(folder, 1)
    this.#listed.set(service, files.set(id, folder))
    this.#counts.set(service, counts)
  }

  /** Distinct files that the run has listed in each folder above a path; null: of the storage. */
  listedAbove(service: string, path: string | null): FolderCount[] {
    const counts = this.#counts.get(service)
    return foldersAbove(folderOf(path)).flatMap((folder) => {
      const listed = counts?.get(folder) ?? 0
      return listed === 0 ? [] : [{ folder, listed }]
    })
  }

  /** Remembers the hash of a file's bytes, where the run knows which version it has read. */
  async whileHashing<T extends Pick<FileHash, 'sha256' | 'bytes'> | null>(file: Downloadable, reading: Promise<T>) {
    const target = fileTarget(file)
    const modifiedAt = file.modifiedAt ?? this.#byTarget.get(target)?.modifiedAt ?? null
    const result = await reading
    if (result === null || modifiedAt === null) return result
    const { sha256, bytes } = result
    this.#hashes.set(target, { sha256, bytes, modifiedAt })
    return result
  }

  /** An entry as a delete finds it, with its hash where the run has read this very version. */
  before(entry: FileEntry): FileBefore {
    const state = toState(askedOf(entry))
    const known = this.#hashes.get(fileTarget(entry))
    const isSame = known?.bytes === state.bytes && known.modifiedAt === state.modifiedAt
    return { ...state, sha256: isSame ? known.sha256 : null }
  }

  /** The entry as the run read it last; null where it has not. */
  asked(target: string): Asked | null {
    return this.#byTarget.get(target) ?? null
  }
}

/** A part that is null counts as left out. */
function toExpected(expect: DeleteOptions['expect'] | null): FileState | null {
  if (!expect) return null
  const { path, size, modifiedAt } = expect
  return { path: path ?? null, bytes: size ?? null, modifiedAt: modifiedAt ?? null }
}

/** The conditions of the author and of a person's approval: each has to hold. */
function applyPermit(
  expect: FileState | null,
  permit: DeletePermit | undefined,
  known: Pick<SeenEntries, 'before'>,
): DeleteRequest {
  const own = { expect: toCondition(expect) }
  if (permit === undefined) return own
  const { beforeSend, onSeen: tell } = permit
  const onSeen = tell && ((entry: FileEntry) => tell(known.before(entry)))
  const hooks = { ...(beforeSend && { beforeSend }), ...(onSeen && { onSeen }) }
  const approved = toCondition(permit.expect)
  return { ...own, approved, ...(permit.isRepeated && { mayBeGone: true }), ...hooks }
}

function toCondition(state: FileState | null): NonNullable<DeleteOptions['expect']> {
  if (state === null) return {}
  const { path, bytes: size, modifiedAt } = state
  return { ...(path === null ? {} : { path }), size, modifiedAt }
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
