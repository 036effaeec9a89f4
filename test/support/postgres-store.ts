import { randomBytes, randomUUID } from 'node:crypto'
import pg from 'pg'
import { inject, onTestFinished } from 'vitest'
import type { Store } from '../../src/core/store/store.ts'
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts'

const vaultKey = randomBytes(32)
const DEADLOCK = '40P01'

/** A schema of its own, which is dropped after the test. */
export function makeSchema(): { url: string; schema: string } {
  const url = inject('databaseUrl')
  const schema = `test_${randomUUID().slice(0, 8)}`
  onTestFinished(async () => {
    const client = new pg.Client(url)
    await client.connect()
    await client.query('SET client_min_messages = warning')
    await dropSchema(client, schema)
    await client.end()
  })
  return { url, schema }
}

/** The last statement of a killed process may still be at work, and lock what is dropped. */
async function dropSchema(client: pg.Client, schema: string): Promise<void> {
  for (;;) {
    try {
      await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
      return
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || error.code !== DEADLOCK) throw error
    }
  }
}

/** A session that looks at the rows of a schema, past any store, until the test is over. */
export async function openSession({ url, schema }: { url: string; schema: string }): Promise<pg.Client> {
  const session = new pg.Client({ connectionString: url, options: `-c search_path=${schema}` })
  session.on('error', () => {})
  await session.connect()
  onTestFinished(() => session.end())
  return session
}

/** Opens a store in a schema, and closes it after the test. */
export async function openTestPostgres({ url, schema }: { url: string; schema: string }): Promise<Store> {
  const hosts = [{ connectionString: url }]
  const store = await openPostgresStore({ hosts, schema, vaultKey, mayMigrate: true })
  onTestFinished(() => store.close())
  return store
}

/**
 * A schema in a database of its own, so that a test may end every session of it. `like`: another
 * one without a session, of which it is a copy.
 */
export async function makeDatabase(like?: { url: string }): Promise<{ url: string; schema: string }> {
  const url = new URL(inject('databaseUrl'))
  const name = `test_${randomUUID().slice(0, 8)}`
  const execute = async (sql: string) => {
    const client = new pg.Client(inject('databaseUrl'))
    await client.connect()
    await client.query(sql)
    await client.end()
  }
  const template = like ? ` TEMPLATE ${new URL(like.url).pathname.slice(1)}` : ''
  await execute(`CREATE DATABASE ${name}${template}`)
  onTestFinished(() => execute(`DROP DATABASE ${name} WITH (FORCE)`))
  url.pathname = `/${name}`
  return { url: url.href, schema: 'upshot' }
}
