import type { Statement } from 'better-sqlite3'
import type { StorageName } from '../../core/service/storage.ts'
import { type Db, statement } from '../state/database.ts'
import type { Entry } from './entry.ts'

const COLUMNS = `storage, id, path, parent, name, type, size, mime_type AS mimeType, identity, fingerprint,
  created_at AS createdAt, modified_at AS modifiedAt`

/** Everything beneath a folder: '0' is the character after '/'. Served by entries_by_path. */
const BENEATH = `storage = @storage AND path > @path || '/' AND path < @path || '0'`

/** The same in the order of a list. The `+` rules out entries_by_path, which would sort. */
const BENEATH_IN_ORDER = `storage = @storage AND +path > @path || '/' AND +path < @path || '0'`

const MAX_REMEMBERED = 1_000

type SortField = 'createdAt' | 'modifiedAt' | 'name' | 'size'

interface EntryQuery {
  storage: StorageName
  path: string
  recursive: boolean
  sort: { field: SortField; descending: boolean }
  limit: number
  offset: number
}

const SORT_COLUMNS = { createdAt: 'created_at', modifiedAt: 'modified_at', name: 'name', size: 'size' } as const

interface At {
  storage: StorageName
  path: string
}

/** The entries of all storages, as last recorded. Only `ChangeRecorder` writes it. */
export class StorageIndex {
  readonly #db: Db
  readonly #byPath: Statement<[At], Entry>
  readonly #fingerprint: Statement<[At], string>
  readonly #byId: Statement<[StorageName, string], Entry>
  readonly #byIdentity: Statement<[StorageName, string], Entry>
  readonly #insert: Statement<[Entry]>
  readonly #refresh: Statement<[Entry]>
  readonly #beneath: Statement<[At], Entry>
  readonly #delete: Statement<[StorageName, string]>
  /** Number of writes. Counts and bookmarks of older versions are stale. */
  #version = 0
  readonly #counts = new Map<string, number>()
  /** Where the last page of each list ended. */
  readonly #bookmarks = new Map<
    string,
    { version: number; offset: number; lastRank: string | number; lastId: string }
  >()

  constructor(db: Db) {
    this.#db = db
    // entries_by_path
    this.#byPath = statement(db, `SELECT ${COLUMNS} FROM entries WHERE storage = @storage AND path = @path`)
    // entries_by_path
    this.#fingerprint = statement<[At], string>(
      db,
      'SELECT fingerprint FROM entries WHERE storage = @storage AND path = @path',
    ).pluck()
    // primary key
    this.#byId = statement(db, `SELECT ${COLUMNS} FROM entries WHERE storage = ? AND id = ?`)
    // entries_by_identity
    this.#byIdentity = statement(db, `SELECT ${COLUMNS} FROM entries WHERE storage = ? AND identity = ?`)
    this.#insert = statement(
      db,
      `INSERT INTO entries (storage, id, path, parent, name, type, size, mime_type, identity, fingerprint,
         created_at, modified_at)
       VALUES (@storage, @id, @path, @parent, @name, @type, @size, @mimeType, @identity, @fingerprint,
         @createdAt, @modifiedAt)`,
    )
    // primary key
    this.#refresh = statement(
      db,
      `UPDATE entries SET path = @path, parent = @parent, name = @name, size = @size, mime_type = @mimeType,
         identity = @identity, fingerprint = @fingerprint, modified_at = @modifiedAt
       WHERE storage = @storage AND id = @id`,
    )
    // entries_by_path
    this.#beneath = statement(db, `SELECT ${COLUMNS} FROM entries WHERE ${BENEATH} ORDER BY path`)
    // primary key
    this.#delete = statement(db, 'DELETE FROM entries WHERE storage = ? AND id = ?')
  }

  byPath(storage: StorageName, path: string): Entry | undefined {
    return this.#byPath.get({ storage, path })
  }

  /** Text of the fingerprint that was last recorded at a path; empty if there is no entry. */
  fingerprintAt(storage: StorageName, path: string): string {
    return this.#fingerprint.get({ storage, path }) ?? ''
  }

  /** The path of every entry. Served by entries_by_path. */
  paths(storage: StorageName): string[] {
    const sql = 'SELECT path FROM entries WHERE storage = ?'
    return statement<[StorageName], string>(this.#db, sql).pluck().all(storage)
  }

  /** Number and total size of the files. Served by entries_by_age. */
  measure(storage: StorageName): { files: number; bytes: number } {
    const sql =
      "SELECT count(*) AS files, coalesce(sum(size), 0) AS bytes FROM entries WHERE storage = ? AND type = 'file'"
    return (
      statement<[StorageName], { files: number; bytes: number }>(this.#db, sql).get(storage) ?? { files: 0, bytes: 0 }
    )
  }

  byId(storage: StorageName, id: string): Entry | undefined {
    return this.#byId.get(storage, id)
  }

  /** Several entries if a file has several names on disk. */
  byIdentity(storage: StorageName, identity: string): Entry[] {
    return this.#byIdentity.all(storage, identity)
  }

  /** Everything beneath a folder, in order of path. For `/`, every entry. */
  beneath(storage: StorageName, path: string): Entry[] {
    return this.#beneath.all({ storage, path: path === '/' ? '' : path })
  }

  insert(entry: Entry): void {
    this.forget()
    this.#insert.run(entry)
  }

  /** Updates everything but the id and the time of creation. */
  refresh(entry: Entry): void {
    this.forget()
    this.#refresh.run(entry)
  }

  delete(entry: Entry): void {
    this.forget()
    this.#delete.run(entry.storage, entry.id)
  }

  /**
   * A page; entries of equal rank are ordered by id. The next page continues where this one ended,
   * others use OFFSET.
   */
  page(query: EntryQuery): Entry[] {
    const bookmark = this.#bookmarks.get(placeOf(query))
    const continues = bookmark?.version === this.#version && bookmark.offset === query.offset ? bookmark : null
    const sql = pageSql(query, continues !== null)
    const rows = statement<[object], Entry>(this.#db, sql).all({ ...parametersOf(query), ...continues })
    this.#mark(query, rows.at(-1), query.offset + rows.length)
    return rows
  }

  /** The number of entries on all pages, cached until an entry changes. */
  count(query: EntryQuery): number {
    const place = `${query.storage} ${query.recursive} ${query.path}`
    const known = this.#counts.get(place)
    if (known !== undefined) return known
    const sql = `SELECT count(*) FROM entries WHERE ${whereOf(query)}`
    const count = Number(statement<[object], number>(this.#db, sql).pluck().get(parametersOf(query)))
    if (this.#counts.size >= MAX_REMEMBERED) this.#counts.clear()
    this.#counts.set(place, count)
    return count
  }

  /** Drops cached counts and bookmarks, because rows have changed. */
  forget(): void {
    this.#version++
    this.#counts.clear()
  }

  #mark(query: EntryQuery, last: Entry | undefined, offset: number): void {
    // A folder's size is null, and SQL cannot compare with null.
    if (!last || query.sort.field === 'size') return
    if (this.#bookmarks.size >= MAX_REMEMBERED) this.#bookmarks.clear()
    const bookmark = { version: this.#version, offset, lastRank: last[query.sort.field], lastId: last.id }
    this.#bookmarks.set(placeOf(query), bookmark)
  }
}

function placeOf({ storage, path, recursive, sort }: EntryQuery): string {
  return `${storage} ${recursive} ${sort.field} ${sort.descending} ${path}`
}

function pageSql(query: EntryQuery, continues: boolean): string {
  const column = SORT_COLUMNS[query.sort.field]
  const [direction, beyond] = query.sort.descending ? ['DESC', '<'] : ['ASC', '>']
  const start = continues ? `AND (${column}, id) ${beyond} (@lastRank, @lastId)` : ''
  return `SELECT ${COLUMNS} FROM entries WHERE ${whereOf(query)} ${start}
    ORDER BY ${column} ${direction}, id ${direction} LIMIT @limit OFFSET ${continues ? 0 : '@offset'}`
}

function whereOf(query: EntryQuery): string {
  if (!query.recursive) return 'storage = @storage AND parent = @path'
  return query.path === '/' ? 'storage = @storage' : BENEATH_IN_ORDER
}

function parametersOf(query: EntryQuery): Record<string, unknown> {
  return { storage: query.storage, path: query.path, limit: query.limit, offset: query.offset }
}
