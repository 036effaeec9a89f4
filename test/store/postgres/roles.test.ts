import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { expect, inject, onTestFinished, test } from 'vitest'
import { verifyLedger } from '../../../src/core/safety/ledger/verify-ledger.ts'
import { openPostgresStore } from '../../../src/store/postgres/open-postgres-store.ts'
import { writeRoleSql } from '../../../src/store/postgres/upkeep/role-sql.ts'
import { claimNext } from '../../contract/support/claim-next.ts'
import { Cluster } from '../../e2e/postgres/cluster.ts'
import { checkpoint, NOW, queueRun } from '../../support/fixtures.ts'
import { postDelivery } from '../../support/post-delivery.ts'
import { makeSchema, openTestPostgres } from '../../support/postgres-store.ts'
import { WEBHOOK_SECRET } from '../../support/test-config.ts'

const DAY = 86_400_000
const ANN = { actor: 'cli:ann', role: 'admin', from: 'here', reason: 'Anna Meier asked', at: NOW }
const BY_HAND = { actor: 'cli:ann', reason: null, at: NOW } as const
const OF_ANNA = { path: '/Anna Meier.pdf', bytes: 3, modifiedAt: null } as const

/** A schema whose rights are given, with a user of each role. */
async function openRoles() {
  const place = makeSchema()
  await openTestPostgres(place)
  const owner = new pg.Client(place.url)
  await owner.connect()
  const kinds = ['erase', 'app', 'read'] as const
  const mark = randomUUID().slice(0, 8)
  const users = { app: `app_${mark}`, read: `read_${mark}`, erase: `erase_${mark}` }
  const roles = kinds.map((kind) => `${place.schema}_${kind}`)
  onTestFinished(async () => {
    for (const role of [...roles, ...Object.values(users)]) {
      await owner.query(`DROP OWNED BY "${role}" CASCADE; DROP ROLE "${role}"`)
    }
    await owner.end()
  })
  await owner.query(writeRoleSql(place.schema))
  for (const kind of kinds) {
    await owner.query(`CREATE ROLE "${users[kind]}" LOGIN IN ROLE "${place.schema}_${kind}"`)
  }
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
    failures: null,
    refusals: null,
    deliveries: null,
    payloads: null,
    audit: null,
    effects: null,
    files: null,
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

test('the app runs with the rights of its role, and "privacy erase" needs the role for it', async () => {
  const { place, users, urlOf, connect } = await openRoles()
  const cluster = new Cluster({ url: urlOf(users.app), schema: place.schema })
  const app = await cluster.start('all')
  await postDelivery(app.endpoint, WEBHOOK_SECRET, 'evt_1', { file: { id: 'fil_1', path: '/Anna Meier.pdf' } })
  const store = await cluster.open()
  await cluster.completed(store, 1)
  const [run] = await store.listRuns({ workflow: 'follow-up', limit: 1 })
  await store.recordAction({ ...ANN, action: 'run.retry', target: run?.id ?? '', parameters: {} }, 'done')
  await store.beginByHand({ account: 'north', storage: 'a', target: 'a:fil_9', asked: OF_ANNA, ...BY_HAND })
  app.child.kill('SIGTERM')
  expect(await app.exited).toMatchObject({ code: 0 })

  const privacy = async (user: string, ...args: string[]) => {
    const { schema } = place
    const as = { UPSHOT_DATABASE_URL: `${urlOf(user)}?schema=${schema}` }
    return JSON.parse(await cluster.commandIn(as, 'privacy', ...args, '--text', 'Anna Meier', '--json'))
  }
  const why = ['--reason', 'request 7', '--yes']
  expect((await privacy(users.app, 'find')).data.rows).toBe(3)
  await expect(privacy(users.app, 'erase', ...why)).rejects.toMatchObject({
    stdout: expect.stringContaining('refuses this user (42501)'),
  })
  await privacy(users.erase, 'erase', ...why)
  expect((await privacy(users.app, 'find')).data.rows).toBe(0)
  expect(await verifyLedger(store)).toMatchObject({ passed: true, faults: [], erased: 1 })

  const client = await connect(users.erase)
  for (const statement of [
    `UPDATE effect SET actor = 'nobody'`,
    `UPDATE audit SET actor = 'nobody'`,
    `UPDATE effect_seal SET note = ''`,
    'DROP TABLE run',
    'UPDATE schema_version SET version = 0',
  ]) {
    await expect(client.query(statement), statement).rejects.toMatchObject({ code: '42501' })
  }
})
