import type { FileDetails, FileEntry, FileHash, FilePlace, FileRef } from '../../core/service/file.ts'
import type { FilesApi, ListQuery, Page, WrapCall } from '../../core/service/files-api.ts'
import { type Clock, waitUntil } from '../../core/time.ts'
import { NotFoundError } from '../../files/errors.ts'
import { wrapCalls } from '../../files/wrap-calls.ts'
import type { AccountClients } from '../service/account-clients.ts'

/** Calls that the parent of an isolated process makes for it. No other is possible. */
export const READS = ['list', 'listAnew', 'find', 'get', 'hash'] as const
type ReadOperation = (typeof READS)[number]

export type ReadFiles = <T>(account: string, operation: ReadOperation, given: unknown) => Promise<T>

/** Each delete that has begun takes about 7 KB until it ends. */
const DELETES_AT_ONCE = 200

/** The files of the service as a plan sees them: those that it has deleted are gone. */
export class PlannedFiles {
  readonly #read: ReadFiles
  readonly #gone = new Set<string>()
  readonly #folders = new Set<string>()
  readonly #deletesAtOnce: number | undefined

  /** `isNew`: no recording says in which order the deletes of one list begin. */
  constructor(read: ReadFiles, { isNew }: { isNew: boolean }) {
    this.#read = read
    this.#deletesAtOnce = isNew ? DELETES_AT_ONCE : undefined
  }

  /** The plan deletes this target, such as `storage_a:fil_1`. */
  remove(target: string): void {
    this.#gone.add(target)
  }

  /** True for a target that a read has shown to be a folder. */
  isFolder(target: string): boolean {
    return this.#folders.has(target)
  }

  readonly filesFor = (account: string, wrap: WrapCall): FilesApi => {
    const read = <T>(operation: ReadOperation, given: unknown) => this.#read<T>(account, operation, given)
    const list = async (operation: 'list' | 'listAnew', query: ListQuery): Promise<Page> => {
      const page = await read<Page>(operation, query)
      return { ...page, items: page.items.filter((entry) => this.#isThere(entry)) }
    }
    const client = {
      list: (query: ListQuery) => list('list', query),
      listAnew: (query: ListQuery) => list('listAnew', query),
      find: async (place: FilePlace): Promise<FileEntry | null> => {
        const found = await read<FileEntry | null>('find', place)
        return found !== null && this.#isThere(found) ? found : null
      },
      get: async (file: FileRef): Promise<FileDetails> => {
        if (this.#gone.has(targetOf(file))) throw describeGone(file)
        const details = await read<FileDetails>('get', file)
        this.#isThere(details)
        return details
      },
      hash: async (file: FileRef): Promise<FileHash | null> =>
        this.#gone.has(targetOf(file)) ? null : read<FileHash | null>('hash', file),
      downloadUrl: refuse,
      download: refuse,
      delete: refuse,
    }
    return wrapCalls(
      () => client as never,
      wrap,
      () => {},
      this.#deletesAtOnce,
    )
  }

  #isThere(entry: FileEntry): boolean {
    if (entry.type === 'folder') this.#folders.add(targetOf(entry))
    return !this.#gone.has(targetOf(entry))
  }
}

function targetOf({ service, id }: FileRef): string {
  return `${service}:${id}`
}

function describeGone({ service, id }: FileRef): NotFoundError {
  const message = `There is no file ${id} in ${service}: the plan has deleted it.`
  return new NotFoundError(message, { operation: 'get', service, status: 404 })
}

function refuse(): never {
  throw new Error('A plan neither downloads nor deletes.')
}

/**
 * Reads of the service for plans, and nothing but reads. A read that the limit of the key puts off
 * waits, up to `longestMs`; default: for ever. `onRead` hears of each, such as `get`.
 */
export function openReads(
  clients: Pick<AccountClients, 'clientOf'>,
  { clock, signal, longestMs = Infinity }: { clock: Clock; signal: AbortSignal; longestMs?: number },
  onRead: (operation: ReadOperation) => void = () => {},
): ReadFiles {
  return async <T>(account: string, operation: ReadOperation, given: unknown): Promise<T> => {
    if (!READS.includes(operation)) throw new Error(`A plan may not call "${operation}".`)
    const end = clock.now() + longestMs
    for (;;) {
      try {
        const client = await clients.clientOf(account)
        onRead(operation)
        const read = client[operation].bind(client) as (given: unknown, options: object) => Promise<unknown>
        return (await read(given, { signal })) as T
      } catch (error) {
        const { retryAt = null } = error as { retryAt?: number | null }
        if (retryAt === null || retryAt <= clock.now() || retryAt > end) throw error
        await waitUntil(clock, retryAt, signal)
      }
    }
  }
}
