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

/** Numbers of the schema; 0: there was none. */
export interface Migration {
  before: number
  after: number
}

/** Held by the migration of a schema, so that two processes wait for each other. */
const MIGRATION_LOCK = 7_485_221

/**
 * Runs the numbered migrations that the schema lacks, in one transaction; makes the schema if it is
 * missing. Throws `invalid_config` for a schema of a newer Upshot.
 */
export async function migrate(client: Client, schema: string): Promise<Migration> {
  await client.query('BEGIN')
  try {
    await client.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [MIGRATION_LOCK, schema])
    await client.query(`CREATE SCHEMA IF NOT EXISTS ${quoteName(schema)}`)
    // Functions with the rights of their owner keep this path, so no temporary table comes first.
    await client.query(`SET LOCAL search_path TO ${quoteName(schema)}, pg_temp`)
    await client.query('CREATE TABLE IF NOT EXISTS schema_version (version bigint NOT NULL)')
    const done = (await readSchemaVersion(client)) ?? 0
    refuseNewer(done)
    for (const file of files.slice(done)) await client.query(readFileSync(new URL(file, FOLDER), 'utf8'))
    if (done < files.length) {
      await client.query('DELETE FROM schema_version')
      await client.query('INSERT INTO schema_version (version) VALUES ($1)', [files.length])
    }
    await client.query('COMMIT')
    return { before: done, after: files.length }
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

/** The oldest major version that has what the statements use. */
const LEAST_SERVER = 15

/** Throws `invalid_config` for a server that is too old. `place` names it. */
export async function requireServer(client: Client, place: string): Promise<void> {
  const { rows } = await client.query<{ number: number; name: string }>(
    `SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS name`,
  )
  const [{ number, name } = { number: 0, name: 'unknown' }] = rows
  if (number >= LEAST_SERVER * 10_000) return
  throw new UpshotError(
    'invalid_config',
    `The database ${place} is on PostgreSQL ${name}, and Upshot needs version ${LEAST_SERVER} or newer.`,
  )
}

/** Throws `invalid_config` unless the schema is this version's. `place` names it. */
export async function requireSchema(client: Client, place: string): Promise<void> {
  const found = await client.query<{ name: string | null }>(`SELECT to_regclass('schema_version') AS name`)
  const version = found.rows[0]?.name == null ? 0 : ((await readSchemaVersion(client)) ?? 0)
  refuseNewer(version)
  if (version === files.length) return requireMoved(client, place)
  const lacks = version === 0 ? 'has no schema of Upshot yet' : `has schema ${version}, and needs ${files.length}`
  throw new UpshotError('invalid_config', `The database ${place} ${lacks}.`, {
    details: { fix: 'Run "upshot db migrate" with a user who may create tables, then start again.' },
  })
}

/** A process that starts between the halves of a move would leave some of the rows behind. */
async function requireMoved(client: Client, place: string): Promise<void> {
  if ((await client.query('SELECT 1 FROM move WHERE is_done = 0')).rowCount === 0) return
  throw new UpshotError('invalid_config', `The database ${place} is the target of a move that did not end.`, {
    details: { fix: 'Run "upshot db move" again, in the folder of the project that moves.' },
  })
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
