import { existsSync, mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { UpshotError } from '../../core/errors.ts'
import type { StorageName } from '../../core/service/storage.ts'
import { type Db, statement } from '../state/database.ts'

/** The directory of a storage. The sandbox only empties directories that it made. */
export interface StorageFolder {
  dir: string
  madeHere: boolean
  /** Whether the index has seen it before. Files found the first time cause no events. */
  indexed: boolean
}

/**
 * Opens a storage's directory, without the drafts of a crash. A missing one is made where the index
 * knows no file of it. Else it throws `invalid_config`: a disk that is not mounted lost nothing.
 */
export function openStorageFolder(db: Db, name: StorageName, parent: string): StorageFolder {
  const dir = join(parent, name)
  const isNew = !existsSync(dir)
  if (isNew) refuseMissing(db, name, dir)
  mkdirSync(dir, { recursive: true })
  statement(db, 'INSERT OR IGNORE INTO storages (name, made_here, indexed) VALUES (?, ?, 0)').run(name, isNew ? 1 : 0)
  for (const left of readdirSync(dir).filter((entry) => entry.startsWith('.draft-'))) rmSync(join(dir, left))
  const row = statement<[StorageName], { madeHere: number; indexed: number }>(
    db,
    'SELECT made_here AS madeHere, indexed FROM storages WHERE name = ?',
  ).get(name)
  return { dir: realpathSync(dir), madeHere: row?.madeHere === 1, indexed: row?.indexed === 1 }
}

function refuseMissing(db: Db, name: StorageName, dir: string): void {
  const known = statement<[StorageName], { files: number }>(
    db,
    `SELECT count(*) AS files FROM entries WHERE storage = ? AND type = 'file'`,
  ).get(name)
  if (!known?.files) return
  const files = known.files === 1 ? '1 file' : `${known.files} files`
  throw new UpshotError(
    'invalid_config',
    `The directory of ${name} is gone, in which the sandbox knows ${files}: ${dir}`,
    { details: { fix: 'Put it back. If its files are meant to be gone, make the directory, empty.' } },
  )
}

export function markIndexed(db: Db, name: StorageName): void {
  statement(db, 'UPDATE storages SET indexed = 1 WHERE name = ?').run(name)
}
