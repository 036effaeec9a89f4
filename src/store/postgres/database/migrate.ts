import { readdirSync, readFileSync } from 'node:fs'
import type { Client } from 'pg'
import { UpshotError } from '../../../core/errors.ts'

const FOLDER = new URL('./migrations/', import.meta.url)

const files = readdirSync(FOLDER)
  .filter((file) => /^\d{3}-.+\.sql$/.test(file))
  .sort()

/** The schema version of this Upshot: the number of its migrations. */
export function latestSchema(): number {
  return files.length
}

/** Held by the migration of a schema, so that two processes wait for each other. */
const MIGRATION_LOCK = 7_485_221

/**
 * Runs the numbered migrations that the schema lacks, in one transaction; makes the schema if it is
 * missing. Throws `invalid_config` for a schema of a newer Upshot.
 */
export async function migrate(client: Client, schema: string): Promise<void> {
  await client.query('BEGIN')
  try {
    await client.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [MIGRATION_LOCK, schema])
    await client.query(`CREATE SCHEMA IF NOT EXISTS ${quoteName(schema)}`)
    await client.query(`SET LOCAL search_path TO ${quoteName(schema)}`)
    await client.query('CREATE TABLE IF NOT EXISTS schema_version (version bigint NOT NULL)')
    const done = (await readSchemaVersion(client)) ?? 0
    refuseNewer(done)
    for (const file of files.slice(done)) await client.query(readFileSync(new URL(file, FOLDER), 'utf8'))
    if (done < files.length) {
      await client.query('DELETE FROM schema_version')
      await client.query('INSERT INTO schema_version (version) VALUES ($1)', [files.length])
    }
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

/** Throws `invalid_config` unless the schema is this version's. */
export async function requireSchema(client: Client): Promise<void> {
  const found = await client.query<{ name: string | null }>(`SELECT to_regclass('schema_version') AS name`)
  const version = found.rows[0]?.name == null ? 0 : ((await readSchemaVersion(client)) ?? 0)
  refuseNewer(version)
  if (version === files.length) return
  throw new UpshotError(
    'invalid_config',
    `The database has schema ${version}, and this Upshot needs ${files.length}. Its owner has to migrate it first.`,
  )
}

async function readSchemaVersion(client: Client): Promise<number | undefined> {
  return (await client.query<{ version: number }>('SELECT version FROM schema_version')).rows[0]?.version
}

function refuseNewer(version: number): void {
  if (version <= files.length) return
  throw new UpshotError(
    'invalid_config',
    `The database has schema ${version}, and this Upshot only knows ${files.length}. Start the newer Upshot.`,
  )
}

/** A name as SQL, whatever is in it. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
