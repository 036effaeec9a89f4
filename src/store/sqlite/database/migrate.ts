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

/** The migrations that a database lacks, by name. Throws `invalid_config` for a newer one. */
export function listMissing(db: Database): { before: number; missing: string[] } {
  const before = Number(db.pragma('user_version', { simple: true }))
  refuseNewer(before)
  return { before, missing: files.slice(before) }
}

/** Throws `invalid_config` unless a database, which must not be changed, has this schema. */
export function requireLatest(db: Database): void {
  const { before, missing } = listMissing(db)
  if (missing.length === 0) return
  throw new UpshotError('invalid_config', `The database has schema ${before}, and this Upshot reads ${files.length}.`, {
    details: { fix: 'Migrate it first: "upshot db migrate". A backup: in a folder of its own, with UPSHOT_DATA_DIR.' },
  })
}

function refuseNewer(found: number): void {
  if (found <= files.length) return
  throw new UpshotError(
    'invalid_config',
    `The database has schema ${found}, and this Upshot only knows ${files.length}.`,
    {
      details: { fix: 'Start the newer Upshot. There is no way back but a backup of before its first start.' },
    },
  )
}

/**
 * Runs the numbered migrations that the database lacks, in one transaction; two processes may do so
 * at once. Gives the numbers of the schema. Throws `invalid_config` for one of a newer Upshot.
 */
export function migrate(db: Database): { before: number; after: number } {
  const upgrade = db.transaction(() => {
    refuseMoved(db)
    const { before, missing } = listMissing(db)
    for (const file of missing) db.exec(readFileSync(new URL(file, FOLDER), 'utf8'))
    db.pragma(`user_version = ${files.length}`)
    return { before, after: files.length }
  })
  return upgrade.immediate()
}

/** Names of the tables that the migrations create. */
export function knownTables(): string[] {
  const text = files.map((file) => readFileSync(new URL(file, FOLDER), 'utf8')).join('\n')
  return [...text.matchAll(/^CREATE TABLE (\w+)/gm)].map(([, name]) => name ?? '')
}
