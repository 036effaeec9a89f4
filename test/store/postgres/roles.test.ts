import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { expect, inject, onTestFinished, test } from 'vitest'
import { openPostgresStore } from '../../../src/store/postgres/open-postgres-store.ts'
import { writeRoleSql } from '../../../src/store/postgres/upkeep/role-sql.ts'
import { claimNext } from '../../contract/support/claim-next.ts'
import { checkpoint, NOW, queueRun } from '../../support/fixtures.ts'
import { makeSchema, openTestPostgres } from '../../support/postgres-store.ts'

const DAY = 86_400_000

/** A schema whose rights are given, with a user of each role. */
async function openRoles() {
  const place = makeSchema()
  await openTestPostgres(place)
  const owner = new pg.Client(place.url)
  await owner.connect()
  const users = { app: `app_${randomUUID().slice(0, 8)}`, read: `read_${randomUUID().slice(0, 8)}` }
  const roles = [`${place.schema}_app`, `${place.schema}_read`]
  onTestFinished(async () => {
    for (const role of [...roles, ...Object.values(users)]) {
      await owner.query(`DROP OWNED BY "${role}" CASCADE; DROP ROLE "${role}"`)
    }
    await owner.end()
  })
  await owner.query(writeRoleSql(place.schema))
  await owner.query(`CREATE ROLE "${users.app}" LOGIN IN ROLE "${roles[0]}"`)
  await owner.query(`CREATE ROLE "${users.read}" LOGIN IN ROLE "${roles[1]}"`)
  const urlOf = (user: string) => {
    const url = new URL(inject('databaseUrl'))
    url.username = user
    return url.href
  }
  const connect = async (user: string) => {
    const client = new pg.Client({ connectionString: urlOf(user), options: `-c search_path=${place.schema}` })
    await client.connect()
    onTestFinished(() => client.end())
    return client
  }
  return { place, users, urlOf, connect }
}

test('a process needs no right to change tables, to touch the schema, or to edit the ledger', async () => {
  const { place, users, urlOf, connect } = await openRoles()
  const hosts = [{ connectionString: urlOf(users.app) }]
  const store = await openPostgresStore({ hosts, schema: place.schema, vaultKey: Buffer.alloc(32) })
  onTestFinished(() => store.close())
  const ages = {
    ...{ failures: null, refusals: null, deliveries: null, payloads: null },
    ...{ audit: null, effects: null, files: null },
  }
  expect(await store.pruneWeek({ ...ages, runs: null }, NOW)).toBeNull()
  await queueRun(store)
  const { lease } = await claimNext(store)
  await store.saveCheckpoint(lease, checkpoint('a'))
  await store.completeRun(lease, 'null', NOW)
  const asked = { path: '/a', bytes: 3, modifiedAt: null }
  const by = { actor: 'cli:ann', reason: null, at: NOW }
  await store.beginByHand({ account: 'north', storage: 'a', target: 'a:fil_9', asked, ...by })
  await store.sealEffects({ now: NOW, limit: 100 })
  expect(await store.pruneWeek({ ...ages, runs: NOW + 7 * DAY }, NOW + DAY)).toEqual({ runs: 1, failures: 0 })

  const client = await connect(users.app)
  for (const statement of [
    'CREATE TABLE mine (id int)',
    'DROP TABLE run',
    'TRUNCATE run',
    'ALTER TABLE run ADD COLUMN mine int',
    `UPDATE effect SET actor = 'nobody'`,
    `UPDATE audit SET actor = 'nobody'`,
    `UPDATE effect_seal SET note = ''`,
    'UPDATE schema_version SET version = 0',
    'UPDATE move SET is_done = 1',
    `SELECT drop_week_1('runs', (SELECT lower FROM list_weeks_1('run') WHERE upper IS NULL), NULL, '{}')`,
  ]) {
    await expect(client.query(statement), statement).rejects.toMatchObject({ code: '42501' })
  }
})

test('a reader sees no secret, and writes nothing', async () => {
  const { users, connect } = await openRoles()
  const client = await connect(users.read)
  await client.query('SELECT * FROM full_run')
  for (const statement of [
    'SELECT * FROM endpoint_secret',
    'SELECT * FROM account',
    'SELECT * FROM effect_key',
    'SELECT * FROM admin_token',
    'DELETE FROM run',
    'UPDATE work SET fence = 9',
  ]) {
    await expect(client.query(statement), statement).rejects.toMatchObject({ code: '42501' })
  }
})
