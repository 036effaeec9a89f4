import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { UpshotError } from '../../../core/errors.ts'
import { PROCESS_SILENCE_MS } from '../../../core/store/process-record.ts'
import { LIVE_PROCESSES, type MigrationForecast } from '../../rows/database-report.ts'
import { readMigrations } from '../../schema/read-migrations.ts'

const FILES = readMigrations('postgres')

/** SQL of each migration, in their order. A line `-- least: n` is told by `Schema.least`. */
export const MIGRATIONS: readonly string[] = FILES.map(({ sql }) => sql)

export interface Schema {
  /** The number of migrations that made it. */
  version: number
  /** Processes that know so many migrations, or more, may work on it. */
  least: number
}

/** Whether this Upshot works on a schema: its own, or a newer one that keeps what it needs. */
export function isUsable({ version, least }: Schema): boolean {
  return version >= MIGRATIONS.length && least <= MIGRATIONS.length
}

/** Numbers of the schema; 0: there was none. */
export interface Migration {
  before: number
  after: number
}

/** Held by the migration of a schema, so that two processes wait for each other. */
const MIGRATION_LOCK = 7_485_221

/** Longest wait for a table, in which all others wait as well; in milliseconds. */
const LOCK_MS = 200
const TRY_AGAIN_MS = 400
/** A reader that holds a table for longer has to be ended first. */
const PATIENCE_MS = 60_000

interface MigrateOptions {
  migrations?: readonly string[]
  patienceMs?: number
}

/**
 * Runs the numbered migrations that the schema lacks, in one transaction; makes the schema if it is
 * missing. Processes of before go on meanwhile, also where another session holds a table: each try
 * is short. Throws `invalid_config` for a schema of a newer Upshot, and `conflict` after a minute.
 */
export async function migrate(
  client: Client,
  schema: string,
  { migrations = MIGRATIONS, patienceMs = PATIENCE_MS }: MigrateOptions = {},
): Promise<Migration> {
  const until = performance.now() + patienceMs
  for (;;) {
    try {
      return await migrateOnce(client, schema, migrations)
    } catch (error) {
      if (!isLocked(error)) throw error
      if (performance.now() > until) throw describeLocked(error)
      await sleep(TRY_AGAIN_MS)
    }
  }
}

function isLocked(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === '55P03' || error.code === '40P01')
}

function describeLocked(cause: unknown): UpshotError {
  return new UpshotError('conflict', 'The schema was not changed: another session holds one of its tables.', {
    cause,
    details: { fix: 'End the oldest transaction in pg_stat_activity, a report or a backup, and run this again.' },
  })
}

async function migrateOnce(client: Client, schema: string, migrations: readonly string[]): Promise<Migration> {
  await client.query('BEGIN')
  try {
    await client.query(`SET LOCAL lock_timeout = ${LOCK_MS}`)
    await client.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [MIGRATION_LOCK, schema])
    await client.query(`CREATE SCHEMA IF NOT EXISTS ${quoteName(schema)}`)
    // Functions with the rights of their owner keep this path, so no temporary table comes first.
    await client.query(`SET LOCAL search_path TO ${quoteName(schema)}, pg_temp`)
    await client.query('CREATE TABLE IF NOT EXISTS schema_version (version bigint NOT NULL, least bigint NOT NULL)')
    const found = await readSchema(client)
    if (found.version > migrations.length) throw describeNewer(found, migrations.length)
    for (const sql of migrations.slice(found.version)) await client.query(sql)
    for (const name of await listMisled(client))
      await client.query(`ALTER FUNCTION ${name} SET search_path FROM CURRENT`)
    if (found.version < migrations.length) {
      await client.query('DELETE FROM schema_version')
      await client.query('INSERT INTO schema_version (version, least) VALUES ($1, $2)', [
        migrations.length,
        Math.max(...migrations.map(readLeast)),
      ])
    }
    await client.query('COMMIT')
    return { before: found.version, after: migrations.length }
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

/** A migration without the line keeps what every older process needs. */
function readLeast(sql: string): number {
  return Number(/^-- least: (\d+)$/m.exec(sql)?.[1] ?? 1)
}

/** The oldest major version that has what the statements use. */
const MIN_SERVER = 15

/** Throws `invalid_config` for a server that is too old, or texts in another encoding than UTF8. */
export async function requireServer(client: Client, place: string): Promise<void> {
  const { rows } = await client.query<{ number: number; name: string; encoding: string }>(
    `SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS name,
       current_setting('server_encoding') AS encoding`,
  )
  const [{ number, name, encoding } = { number: 0, name: 'unknown', encoding: 'UTF8' }] = rows
  if (number < MIN_SERVER * 10_000) {
    throw new UpshotError(
      'invalid_config',
      `The database ${place} is on PostgreSQL ${name}, and Upshot needs version ${MIN_SERVER} or newer.`,
    )
  }
  if (encoding === 'UTF8') return
  // In another one, each delivery with a character that it lacks would be refused for ever.
  const message = `The database ${place} has the encoding ${encoding}, and Upshot needs UTF8.`
  throw new UpshotError('invalid_config', message, {
    details: { fix: "Make one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0." },
  })
}

/** Throws `invalid_config` unless the schema is this version's. `place` names it. */
export async function requireSchema(client: Client, place: string): Promise<void> {
  const schema = await findSchema(client)
  if (isUsable(schema)) {
    await requireOwnPaths(client, place)
    return requireMoved(client, place)
  }
  const { version } = schema
  const known = MIGRATIONS.length
  if (version > known) throw describeNewer(schema, known)
  const lacks =
    version === 0
      ? 'has no schema of Upshot yet, or none that this user may use'
      : `has schema ${version}, and needs ${known}`
  throw new UpshotError('invalid_config', `The database ${place} ${lacks}.`, {
    details: { fix: 'Run "upshot db migrate" with a user who may create tables, then start again.' },
  })
}

/**
 * Functions with the rights of their owner that still work on the schema's former name, after a
 * person renamed it. Another schema may have that name by now.
 */
async function listMisled(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT oid::regprocedure::text AS name FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
       AND prosecdef AND NOT proconfig @> ARRAY['search_path=' || quote_ident(current_schema()) || ', pg_temp']`,
  )
  return rows.map(({ name }) => name)
}

/** The functions of a renamed schema would remove old rows from the one that has its name now. */
async function requireOwnPaths(client: Client, place: string): Promise<void> {
  if ((await listMisled(client)).length === 0) return
  throw new UpshotError(
    'invalid_config',
    `The schema of ${place} was renamed: its functions work on the former name.`,
    {
      details: { fix: 'Run "upshot db migrate" with the owner of the schema, then start again.' },
    },
  )
}

/** A process that starts between the halves of a move would leave some of the rows behind. */
async function requireMoved(client: Client, place: string): Promise<void> {
  if ((await client.query('SELECT 1 FROM move WHERE is_done = 0')).rowCount === 0) return
  throw new UpshotError('invalid_config', `The database ${place} is the target of a move that did not end.`, {
    details: { fix: 'Run "upshot db move" again, in the folder of the project that moves.' },
  })
}

/** The migrations that a schema lacks. Throws `invalid_config` for a schema of a newer Upshot. */
async function listMissing(client: Client): Promise<{ before: number; missing: string[]; sql: string }> {
  const schema = await findSchema(client)
  if (schema.version > MIGRATIONS.length) throw describeNewer(schema, MIGRATIONS.length)
  const { version: before } = schema
  return { before, missing: FILES.slice(before).map(({ name }) => name), sql: MIGRATIONS.slice(before).join('\n') }
}

async function findSchema(client: Client): Promise<Schema> {
  const { rows } = await client.query<{ name: string | null }>(`SELECT to_regclass('schema_version') AS name`)
  return rows[0]?.name == null ? { version: 0, least: 0 } : readSchema(client)
}

async function readSchema(client: Client): Promise<Schema> {
  const [row] = (await client.query<{ version: string; least: string }>('SELECT version, least FROM schema_version'))
    .rows
  return { version: Number(row?.version ?? 0), least: Number(row?.least ?? 0) }
}

function describeNewer({ version, least }: Schema, known: number): UpshotError {
  return new UpshotError(
    'invalid_config',
    `The database has schema ${version}, for processes of schema ${least} or newer, ` +
      `and this Upshot only knows ${known}.`,
    { details: { fix: 'Start the newer Upshot. The only way back is a backup from before its migration.' } },
  )
}

/** A name as SQL, whatever is in it. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

import type pg from 'pg'

/** Statements of a migration that go through a table, or lock it. */
const CHANGES = /\b(?:ALTER TABLE|UPDATE|DELETE FROM|INSERT INTO|INDEX \w+ ON)\s+(\w+)/g

/** Says what a migration of a schema would do. It takes no lock that another session waits for. */
export async function foreseeMigration(client: pg.Client): Promise<MigrationForecast> {
  const { before, missing, sql } = await listMissing(client)
  const misled = before === 0 ? [] : await listMisled(client)
  const forecast = { before, after: before + missing.length, missing, misled, tried: null }
  if (before === 0) return { ...forecast, processes: [], unfinished: 0, tables: [] }
  const since = `(extract(epoch FROM clock_timestamp()) * 1000)::bigint - ${PROCESS_SILENCE_MS}`
  const processes = await client.query(LIVE_PROCESSES.replace('?', since))
  const { rows: counted } = await client.query<{ runs: number }>('SELECT count(*)::int AS runs FROM work')
  const names = [...new Set([...sql.matchAll(CHANGES)].map(([, name]) => name))]
  const tables = await client.query(
    `SELECT given AS name, sum(greatest(reltuples, 0))::float8 AS rows,
       sum(pg_total_relation_size(relid))::float8 AS bytes
     FROM unnest($1::text[]) AS given, pg_partition_tree(to_regclass(given)) JOIN pg_class ON pg_class.oid = relid
     WHERE to_regclass(given) IS NOT NULL GROUP BY given ORDER BY bytes DESC`,
    [names],
  )
  return { ...forecast, processes: processes.rows, unfinished: counted[0]?.runs ?? 0, tables: tables.rows }
}
