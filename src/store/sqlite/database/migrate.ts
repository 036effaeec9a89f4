import { readdirSync, readFileSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import { UpshotError } from '../../../core/errors.ts'

const FOLDER = new URL('./migrations/', import.meta.url)

const files = readdirSync(FOLDER)
  .filter((file) => /^\d{3}-.+\.sql$/.test(file))
  .sort()

/** The number of the schema that this Upshot works with. */
export function latestSchema(): number {
  return files.length
}

/**
 * Brings the schema up to date: runs each numbered file that is new, in one transaction. Two
 * processes may start at once; a database from a newer Upshot is refused rather than guessed at.
 */
export function migrate(db: Database): void {
  const upgrade = db.transaction(() => {
    const done = db.pragma('user_version', { simple: true }) as number
    if (done > files.length) {
      throw new UpshotError(
        'invalid_config',
        `The database has schema ${done}, this Upshot knows ${files.length}. Start the newer Upshot, or restore a backup.`,
      )
    }
    for (const file of files.slice(done)) db.exec(readFileSync(new URL(file, FOLDER), 'utf8'))
    db.pragma(`user_version = ${files.length}`)
  })
  upgrade.immediate()
}

/** The tables that the migrations make. */
export function knownTables(): string[] {
  const text = files.map((file) => readFileSync(new URL(file, FOLDER), 'utf8')).join('\n')
  return [...text.matchAll(/^CREATE TABLE (\w+)/gm)].map(([, name]) => name ?? '')
}
