import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import pg from 'pg'
import type { DatabaseConfig } from '../../src/project/config/database-config.ts'
import { MIGRATIONS } from '../../src/store/postgres/database/migrate.ts'

/** A folder for each released version, with its databases and its API. They are kept for ever. */
const KEPT = join(import.meta.dirname, 'released')

export function listKept(): string[] {
  return existsSync(KEPT) ? readdirSync(KEPT) : []
}

/** The files of a version. */
export function keptFiles(version: string): { sqlite: string; postgres: string; api: string } {
  const folder = join(KEPT, version)
  return {
    sqlite: join(folder, 'upshot.db.gz'),
    postgres: join(folder, 'postgres.sql.gz'),
    api: join(folder, 'openapi.json.gz'),
  }
}

/** Keeps a database file, the text of a schema, and the OpenAPI document. */
export function keep(version: string, { file, sql, api }: { file: string; sql: string; api: object }): void {
  const to = keptFiles(version)
  mkdirSync(join(KEPT, version), { recursive: true })
  writeFileSync(to.sqlite, gzipSync(readFileSync(file), { level: 9 }))
  writeFileSync(to.postgres, gzipSync(sql, { level: 9 }))
  writeFileSync(to.api, gzipSync(JSON.stringify(api), { level: 9 }))
}

export function readKept(file: string): Buffer {
  return gunzipSync(readFileSync(file))
}

/** A schema of a PostgreSQL server, as an app is told of it. */
export function databaseAt(url: string, schema: string): DatabaseConfig {
  const { hostname: host, port, username: user, pathname } = new URL(url)
  const server = { host, port: Number(port), user, database: pathname.slice(1), tls: null }
  return { hosts: [server], directHosts: null, readHosts: null, schema, connections: 10 }
}

/** Uses a session whose names are those of a schema. */
export async function inSchema<T>(url: string, schema: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, options: `-c search_path=${schema}` })
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}

/** The schema as SQL that makes it again: the migrations that made it, and its rows. */
export async function dumpSchema(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ name: string; columns: string }>(
    `SELECT relname AS name, string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS columns
     FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
     WHERE attnum > 0 AND attgenerated = '' AND NOT attisdropped
       AND relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
     GROUP BY relname ORDER BY relname`,
  )
  const texts = [...MIGRATIONS, VERSION, 'SET session_replication_role = replica']
  for (const { name, columns } of rows) texts.push(`DELETE FROM ${name}`, ...(await dumpRows(client, name, columns)))
  return `${[...texts, ...(await dumpSequences(client)), 'SET session_replication_role = origin'].join(';\n')};\n`
}

/** The table that a migration finds. */
const VERSION = 'CREATE TABLE schema_version (version bigint NOT NULL, least bigint NOT NULL)'

async function dumpRows(client: pg.Client, table: string, columns: string): Promise<string[]> {
  const { rows } = await client.query<{ row: string }>(`SELECT to_json(t)::text AS row FROM ${table} AS t`)
  const values = (row: string) => `json_populate_record(NULL::${table}, ${pg.escapeLiteral(row)})`
  return rows.map(
    ({ row }) => `INSERT INTO ${table} (${columns}) OVERRIDING SYSTEM VALUE SELECT ${columns} FROM ${values(row)}`,
  )
}

async function dumpSequences(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string; last: string }>(
    `SELECT sequencename AS name, last_value::text AS last FROM pg_sequences
     WHERE schemaname = current_schema() AND last_value IS NOT NULL`,
  )
  return rows.map(({ name, last }) => `SELECT setval('${name}', ${last})`)
}
