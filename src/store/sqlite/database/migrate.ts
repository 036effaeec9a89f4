import { readdirSync, readFileSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import { UpshotError } from '../../../core/errors.ts'
import { refuseMoved } from './moved.ts'

const FOLDER = new URL('./migrations/', import.meta.url)

const files = readdirSync(FOLDER)
  .filter((file) => /^\d{3}-.+\.sql$/.test(file))
  .sort()

/** The schema version of this Upshot: the number of its migrations. */
export function latestSchema(): number {
  return files.length
}

/**
 * Runs the numbered migrations that the database lacks, in one transaction; two processes may do so
 * at once. Throws `invalid_config` for a database from a newer Upshot.
 */
export function migrate(db: Database): void {
  const upgrade = db.transaction(() => {
    refuseMoved(db)
    const done = db.pragma('user_version', { simple: true }) as number
    if (done > files.length) {
      throw new UpshotError(
        'invalid_config',
        `The database has schema ${done}, and this Upshot only knows ${files.length}. ` +
          'Start the newer Upshot, or restore a backup.',
      )
    }
    for (const file of files.slice(done)) db.exec(readFileSync(new URL(file, FOLDER), 'utf8'))
    db.pragma(`user_version = ${files.length}`)
  })
  upgrade.immediate()
}

/** Names of the tables that the migrations create. */
export function knownTables(): string[] {
  const text = files.map((file) => readFileSync(new URL(file, FOLDER), 'utf8')).join('\n')
  return [...text.matchAll(/^CREATE TABLE (\w+)/gm)].map(([, name]) => name ?? '')
}
