import { existsSync, mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { StorageName } from '../../core/service/storage.ts'
import type { Db } from '../state/database.ts'
import { statement } from '../state/statement.ts'

/** The directory of a storage. The sandbox only empties directories that it made. */
export interface StorageFolder {
  dir: string
  madeHere: boolean
  /** Whether the index has seen it before. Files found the first time cause no events. */
  indexed: boolean
}

/** Opens a storage's directory, creating it if missing. Removes drafts that a crash left behind. */
export function openStorageFolder(db: Db, name: StorageName, parent: string): StorageFolder {
  const dir = join(parent, name)
  const isNew = !existsSync(dir)
  mkdirSync(dir, { recursive: true })
  statement(db, 'INSERT OR IGNORE INTO storages (name, made_here, indexed) VALUES (?, ?, 0)').run(name, isNew ? 1 : 0)
  for (const left of readdirSync(dir).filter((entry) => entry.startsWith('.draft-'))) rmSync(join(dir, left))
  const row = statement<[StorageName], { madeHere: number; indexed: number }>(
    db,
    'SELECT made_here AS madeHere, indexed FROM storages WHERE name = ?',
  ).get(name)
  return { dir: realpathSync(dir), madeHere: row?.madeHere === 1, indexed: row?.indexed === 1 }
}

export function markIndexed(db: Db, name: StorageName): void {
  statement(db, 'UPDATE storages SET indexed = 1 WHERE name = ?').run(name)
}
