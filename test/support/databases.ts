import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { withCleanSchema } from './clean-schema.ts'
import type { Place } from './open-place.ts'

/** The databases on which a suite runs. */
export const DATABASES = ['SQLite', 'PostgreSQL'] as const
export type DatabaseName = (typeof DATABASES)[number]

/** Gives an empty database to `use`, and takes it back. A test may ask for many. */
export async function inDatabase<T>(name: DatabaseName, use: (place: Place) => Promise<T>): Promise<T> {
  if (name === 'PostgreSQL') return withCleanSchema(({ url, schema }) => use({ url, schema }))
  const folder = mkdtempSync(join(tmpdir(), 'upshot-database-'))
  try {
    return await use({ file: join(folder, 'upshot.db') })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Moves the time by which a killed worker counts as dead: a server waits some seconds first. */
export async function silenceWorkers(place: Place): Promise<void> {
  if ('file' in place) return
  const client = new pg.Client({ connectionString: place.url, options: `-c search_path=${place.schema}` })
  await client.connect()
  await client.query('UPDATE worker SET seen_at = 0')
  await client.end()
}
