import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { inject, onTestFinished } from 'vitest'
import { migratePostgres } from '../../src/store/postgres/open-postgres-store.ts'

interface CleanSchema {
  url: string
  schema: string
  /** Takes all rows away but those that a migration makes. */
  emptying: string
}

/** Schemas that earlier tests of this worker have left: to make one takes five times as long. */
const left: CleanSchema[] = []

/** A schema as a migration leaves it, for a test that only reads and writes rows. */
export async function takeCleanSchema(): Promise<{ url: string; schema: string }> {
  const place = left.pop() ?? (await makeOne())
  onTestFinished(() => giveBack(place))
  return place
}

/** The same for a part of a test. */
export async function withCleanSchema<T>(use: (place: { url: string; schema: string }) => Promise<T>): Promise<T> {
  const place = left.pop() ?? (await makeOne())
  try {
    return await use(place)
  } finally {
    await giveBack(place)
  }
}

async function giveBack(place: CleanSchema): Promise<void> {
  await execute(place.url, (client) => client.query(place.emptying))
  left.push(place)
}

async function makeOne(): Promise<CleanSchema> {
  const url = inject('databaseUrl')
  const schema = `test_${randomUUID().slice(0, 8)}`
  await migratePostgres({ hosts: [{ connectionString: url }], schema, vaultKey: Buffer.alloc(32) })
  return { url, schema, emptying: await execute(url, (client) => writeEmptying(client, schema)) }
}

async function writeEmptying(client: pg.Client, schema: string): Promise<string> {
  const relations = await client.query<{ name: string; kind: string }>(
    `SELECT oid::regclass::text AS name, relkind AS kind FROM pg_class
     WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p', 'S') AND NOT relispartition`,
    [schema],
  )
  const statements = [`SET session_replication_role = replica`]
  for (const { name, kind } of relations.rows) {
    if (kind === 'S') statements.push(`ALTER SEQUENCE ${name} RESTART`)
    else statements.push(`DELETE FROM ${name}`, ...(await writeRows(client, name)))
  }
  return statements.join(';\n')
}

/** The rows that a migration makes, as a statement that makes them again. */
async function writeRows(client: pg.Client, table: string): Promise<string[]> {
  const { rows } = await client.query<{ all: string | null }>(`SELECT json_agg(t)::text AS all FROM ${table} AS t`)
  const all = rows[0]?.all
  if (all == null) return []
  return [`INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, ${pg.escapeLiteral(all)})`]
}

async function execute<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
