import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { openMigrated } from '../../src/store/sqlite/database/open-database.ts'

let image: Buffer | undefined

/**
 * Writes the database that this version makes to a file, unless there is one. It takes a third of
 * the time of the migrations, and most tests open a database.
 */
export function makeDatabase(file: string): void {
  if (existsSync(file)) return
  image ??= readImage()
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(file, image, { mode: 0o600 })
}

function readImage(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'upshot-image-'))
  try {
    const file = join(folder, 'upshot.db')
    openMigrated(file).close()
    return readFileSync(file)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
