import { existsSync, mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { StorageName } from '../../core/service/storage.ts'
import type { Db } from '../state/database.ts'
import { statement } from '../state/statement.ts'

/**
 * A storage's directory and whether it is ours: only a directory that the sandbox made may it ever
 * empty.
 */
export interface StorageFolder {
  dir: string
  madeHere: boolean
  /**
   * Whether it has been compared with the index before. What is found the first time was always
   * there: nobody is told.
   */
  indexed: boolean
}

/**
 * Opens the directory of a storage, making it where it is missing. Drafts that a crash left behind
 * are removed.
 */
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
