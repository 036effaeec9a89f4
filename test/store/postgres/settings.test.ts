import pg from 'pg'
import { expect, test } from 'vitest'
import { KEEP_ALL } from '../../../src/core/store/retention.ts'
import { openPostgresStore, withSession } from '../../../src/store/postgres/open-postgres-store.ts'
import { inspectServer } from '../../../src/store/postgres/upkeep/inspect-server.ts'
import { claimNext } from '../../contract/support/claim-next.ts'
import { NOW, queueRun } from '../../support/fixtures.ts'
import { makeDatabase, openTestPostgres } from '../../support/postgres-store.ts'

/** A database with settings of its own, which each role has unless it sets others. */
async function openSet(...settings: string[]) {
  const place = await makeDatabase()
  const client = new pg.Client(place.url)
  await client.connect()
  const name = new URL(place.url).pathname.slice(1)
  for (const setting of settings) await client.query(`ALTER DATABASE ${name} SET ${setting}`)
  await client.end()
  return { place, options: { hosts: [{ connectionString: place.url }], schema: 'upshot', vaultKey: Buffer.alloc(32) } }
}

test('settings of a role or database change nothing', async () => {
  const { place, options } = await openSet(
    'standard_conforming_strings = off',
    'default_transaction_isolation = serializable',
    'statement_timeout = 50',
    'search_path = pg_catalog',
    `datestyle = 'German, DMY'`,
    `timezone = 'Asia/Kathmandu'`,
  )
  const store = await openTestPostgres(place)
  await store.pruneWeek(KEEP_ALL, NOW)
  const id = await queueRun(store, 'evt_1')
  await store.completeRun((await claimNext(store)).lease, JSON.stringify("\\ and '"), NOW)
  expect(await store.findRun(id)).toMatchObject({ status: 'completed', output: JSON.stringify("\\ and '") })
  await withSession(options, async (client) => {
    expect((await client.query('SHOW transaction_isolation')).rows).toEqual([
      { transactionIsolation: 'read committed' },
    ])
    await client.query('SELECT pg_sleep(0.1)')
  })
})

test('a database that its settings keep from writes says so', async () => {
  const { options } = await openSet('default_transaction_read_only = on')
  await expect(openPostgresStore({ ...options, mayMigrate: true })).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringContaining('by default_transaction_read_only'),
    details: { fix: expect.stringContaining('let the database take writes') },
  })
})

test('the facts of a server are there before the schema is', async () => {
  const { options } = await openSet()
  expect(await withSession(options, inspectServer)).toMatchObject({ takesWrites: true, mayWrite: false })
})
