import type { FileFunctions } from '../../author/event-keys.ts'
import { withStorageNames } from '../../author/storage-name.ts'
import type { EventRecord } from '../../core/incoming/event.ts'
import { findStorage, type StorageSpellings } from '../../core/service/storage.ts'
import { canKnow, EMPTY_BOOK, type FileBook, type FileEvent } from '../../core/service/sweep/judge-file.ts'
import type { Store } from '../../core/store/store.ts'

/** Events of one look: a few milliseconds. */
const EVENTS = 250

export interface FileMatching {
  store: Pick<Store, 'loadFileBook' | 'saveFileBook' | 'listMatchCursors' | 'listEventsAfter'>
  /** The file functions of this process's modules. */
  functions: () => ReadonlyMap<string, FileFunctions>
  spellingsOf: (account: string) => StorageSpellings | Promise<StorageSpellings>
}

/**
 * Notes the files that the events since the last look tell of. Functions that are new read the
 * stored events from the first one on. Of two processes that look at once, one saves.
 */
export async function matchFiles(parts: FileMatching, mayGoOn: () => boolean = () => true): Promise<void> {
  const { store } = parts
  const { newest } = await store.listMatchCursors()
  const functions = parts.functions()
  for (const [stream, upTo] of newest) {
    while (mayGoOn()) {
      const { book: kept, version } = (await store.loadFileBook()) ?? { book: EMPTY_BOOK, version: 0 }
      const book = withFunctions(kept, functions)
      const after = book.read[stream] ?? 0
      if (after >= upTo && book === kept) break
      if (version === 0 && functions.size === 0) return
      const range = { stream, after, upTo: Math.min(nextStop(after), upTo) }
      const events = await store.listEventsAfter({ ...range, types: [...functions.keys()] })
      const looked = await readEvents(parts, functions, { book, events })
      const next = { ...looked.book, read: { ...book.read, [stream]: Math.max(after, range.upTo) } }
      if (!(await store.saveFileBook(next, version, looked.told))) return
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

/** Numbers of PostgreSQL have gaps of eight. */
function nextStop(after: number): number {
  return after + EVENTS * 8
}

/** The book for these functions. Where one has changed, every event is read again. */
function withFunctions(book: FileBook, functions: ReadonlyMap<string, FileFunctions>): FileBook {
  const known = (type: string, { version, make }: FileFunctions) =>
    book.types[type]?.version === version && book.types[type].canMakeUp === (make !== null)
  const isSame = functions.size === Object.keys(book.types).length
  if (isSame && [...functions].every(([type, each]) => known(type, each))) return book
  const types = [...functions].map(([type, { version, make }]) => [type, { version, canMakeUp: make !== null }])
  return { read: {}, types: Object.fromEntries(types), unread: {} }
}

async function readEvents(
  { spellingsOf }: Pick<FileMatching, 'spellingsOf'>,
  functions: ReadonlyMap<string, FileFunctions>,
  { book, events }: { book: FileBook; events: readonly EventRecord[] },
): Promise<{ book: FileBook; told: FileEvent[] }> {
  const told: FileEvent[] = []
  const unread = { ...book.unread }
  for (const { id: event, account, type, receivedAt: at, body, origin } of events) {
    if (origin === 'reconcile') continue
    const spellings = await spellingsOf(account)
    const file = readFile(functions.get(type), body, spellings)
    if (file === 'none') continue
    if (file !== null) {
      told.push({ account, type, event, at, ...file })
      continue
    }
    const before = unread[`${account} ${type}`]
    unread[`${account} ${type}`] = {
      count: (before?.count ?? 0) + 1,
      lastAt: Math.max(at, before?.lastAt ?? 0),
      event,
    }
  }
  return { book: { ...book, unread }, told }
}

/** `none`: the author says that it tells of no file. Null: that could not be read. */
export function readFile(
  functions: FileFunctions | undefined,
  body: string,
  spellings: StorageSpellings,
): Pick<FileEvent, 'storage' | 'file'> | 'none' | null {
  if (functions === undefined) return 'none'
  try {
    const found = withStorageNames(spellings, () => functions.read(JSON.parse(body).data))
    if (found === null) return 'none'
    const storage = findStorage(found.service, spellings)
    return storage === null || typeof found.id !== 'string' || !canKnow(found.id) ? null : { storage, file: found.id }
  } catch {
    return null
  }
}
