import { execFileSync } from 'node:child_process'
import { chownSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { judgeServer } from '../../../src/cli/commands/doctor/check-database.ts'
import { requireServer } from '../../../src/store/postgres/database/migrate.ts'
import {
  openConnectedPostgresStore,
  openPostgresStore,
  openSharedPostgresStore,
  withSession,
} from '../../../src/store/postgres/open-postgres-store.ts'
import { inspectServer } from '../../../src/store/postgres/upkeep/inspect-server.ts'
import { incoming, queueRun } from '../../support/fixtures.ts'
import { startPostgres, type TestServer } from '../../support/postgres-server.ts'

let server: TestServer
let owner: pg.Client
beforeAll(async () => {
  server = await startPostgres()
  owner = new pg.Client(server.url)
  await owner.connect()
})
afterAll(async () => {
  await owner.end()
  await server.stop()
})

async function open(hosts: pg.ClientConfig, schema = 'upshot') {
  const store = await openPostgresStore({ hosts: [hosts], schema, vaultKey: Buffer.alloc(32), mayMigrate: true })
  onTestFinished(() => store.close())
  return store
}

const place = (part: pg.ClientConfig = {}): pg.ClientConfig => ({
  host: '127.0.0.1',
  port: server.port,
  user: 'postgres',
  database: 'postgres',
  ...part,
})

/** Lets the owner of the server's files be the one of what the test adds to them. */
function adopt(file: string): void {
  const { uid, gid } = statSync(join(server.folder, 'data'))
  if (process.getuid?.() === 0) chownSync(file, uid, gid)
}

test('a schema of another checkout is named, though it has the same number', async () => {
  const store = await open(place(), 'other_checkout')
  await owner.query('ALTER TABLE other_checkout.run_progress RENAME COLUMN reported_at TO at')
  await expect(store.listRuns({ limit: 1 })).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringContaining('has other tables than this Upshot'),
    details: { reason: 'other_schema', passes: false },
  })
})

test('a wrong password and a database that is not there are told at once, without the password', async () => {
  const rules = join(server.folder, 'data', 'pg_hba.conf')
  const before = readFileSync(rules, 'utf8')
  writeFileSync(rules, `host all guarded 127.0.0.1/32 scram-sha-256\n${before}`)
  await owner.query(`CREATE ROLE guarded LOGIN PASSWORD 'right'`)
  await owner.query('SELECT pg_reload_conf()')
  const wrong = open(place({ user: 'guarded', password: 'wrong-and-secret' }))
  await expect(wrong).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringMatching(/^The database postgres on 127\.0\.0\.1:\d+ \(schema upshot\) refuses this user/),
    details: { reason: 'refused', fix: expect.stringContaining('UPSHOT_DATABASE_URL') },
  })
  await expect(wrong).rejects.not.toThrow(/wrong-and-secret/)
  await expect(open(place({ database: 'nowhere' }))).rejects.toMatchObject({
    message: expect.stringContaining('does not exist (3D000)'),
    details: { reason: 'missing' },
  })
})

test('a server without TLS, or of an authority that nobody named, is refused', async () => {
  const untrusted = { code: 'store_unavailable', details: { reason: 'untrusted' } }
  await expect(open(place({ ssl: {} }))).rejects.toMatchObject(untrusted)
  const [key, cert] = ['server.key', 'server.crt'].map((name) => join(server.folder, 'data', name)) as [string, string]
  const subject = ['-subj', '/CN=db.internal', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2']
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, ...subject], {
    stdio: 'ignore',
  })
  for (const file of [key, cert]) adopt(file)
  execFileSync('chmod', ['600', key])
  await owner.query('ALTER SYSTEM SET ssl = on')
  await owner.query('SELECT pg_reload_conf()')
  while ((await owner.query('SHOW ssl')).rows[0].ssl !== 'on');
  await expect(open(place({ ssl: {} }))).rejects.toMatchObject(untrusted)
  await expect(open(place({ ssl: { ca: readFileSync(cert, 'utf8'), servername: 'other.internal' } }))).rejects.toThrow(
    /does not prove who it is|altnames|Hostname/,
  )
  const store = await open(place({ ssl: { ca: readFileSync(cert, 'utf8') } }))
  expect(await queueRun(store)).toMatch(/^run_/)
})

test('a server that is too old is named, with the version that is needed', async () => {
  const old = { query: async () => ({ rows: [{ number: 140_012, name: '14.12' }] }) }
  await expect(requireServer(old as never, 'upshot on db:5432')).rejects.toMatchObject({
    code: 'invalid_config',
    message: 'The database upshot on db:5432 is on PostgreSQL 14.12, and Upshot needs version 15 or newer.',
  })
})

test('a database with another encoding than UTF8 is refused before it takes anything', async () => {
  for (const encoding of ['LATIN1', 'EUC_JP', 'SQL_ASCII']) {
    const database = `in_${encoding.toLowerCase()}`
    await owner.query(
      `CREATE DATABASE ${database} ENCODING '${encoding}' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'`,
    )
    await expect(open(place({ database }))).rejects.toMatchObject({
      code: 'invalid_config',
      message: expect.stringMatching(`has the encoding ${encoding}, and Upshot needs UTF8`),
      details: { fix: expect.stringContaining('template0') },
    })
  }
})

test('"doctor" says that a database is read-only, or that the user may not write', async () => {
  await open(place(), 'judged')
  await owner.query('CREATE ROLE onlooker LOGIN')
  await owner.query('GRANT USAGE ON SCHEMA judged TO onlooker; GRANT SELECT ON ALL TABLES IN SCHEMA judged TO onlooker')
  await owner.query('CREATE ROLE frozen LOGIN SUPERUSER; ALTER ROLE frozen SET default_transaction_read_only = on')
  const judge = (user: string) =>
    withSession({ hosts: [place({ user })], schema: 'judged', vaultKey: Buffer.alloc(32) }, async (client) =>
      judgeServer(await inspectServer(client)).find(({ check }) => check === 'writes'),
    )
  expect(await judge('postgres')).toMatchObject({ level: 'ok' })
  expect(await judge('onlooker')).toMatchObject({ level: 'fail', found: expect.stringContaining('may only read') })
  expect(await judge('frozen')).toMatchObject({ level: 'fail', found: expect.stringContaining('read-only') })
})

test('a server whose connections others have taken is told, and is used again when one is free', async () => {
  await open(place(), 'crowded')
  await owner.query(`CREATE ROLE alone LOGIN SUPERUSER`)
  await owner.query(`ALTER ROLE alone NOSUPERUSER CONNECTION LIMIT 1`)
  await owner.query(`GRANT ALL ON SCHEMA crowded TO alone; GRANT ALL ON ALL TABLES IN SCHEMA crowded TO alone`)
  const options = { hosts: [place({ user: 'alone' })], schema: 'crowded', vaultKey: Buffer.alloc(32) }
  const other = new pg.Client(place({ user: 'alone' }))
  await other.connect()
  await expect(openPostgresStore(options)).rejects.toMatchObject({
    message: expect.stringContaining('has no connection left for us (53300)'),
    details: { reason: 'crowded', fix: expect.stringContaining('max_connections') },
  })
  // An engine that starts says so at once, where it would keep results of steps for longer.
  const { port1, port2 } = new MessageChannel()
  const engine = openConnectedPostgresStore(options, port1)
  const askedAt = performance.now()
  await expect(engine.readClock()).rejects.toMatchObject({ details: { reason: 'crowded' } })
  expect(performance.now() - askedAt).toBeLessThan(5_000)
  port2.close()
  await engine.close()
  await other.end()
  // The server counts a connection until its process has ended, and lists it for less long.
  const openOnceFree = async (): Promise<Awaited<ReturnType<typeof openPostgresStore>>> =>
    openPostgresStore(options).catch((error) => {
      if (error.details?.reason !== 'crowded') throw error
      return openOnceFree()
    })
  const store = await openOnceFree()
  onTestFinished(() => store.close())
  const taken = await Promise.all(Array.from({ length: 20 }, (_, n) => store.saveDelivery(incoming(`evt_${n}`))))
  expect(taken.every(({ verdict }) => verdict === 'accepted')).toBe(true)
})

test('a statement that the server ends is made again, and made once', async () => {
  await open(place(), 'slow')
  // The store of an app, whose statements have seconds; those of a command have longer.
  const store = await openSharedPostgresStore({ hosts: [place()], schema: 'slow', vaultKey: Buffer.alloc(32) })
  onTestFinished(() => store.close())
  await owner.query('BEGIN')
  await owner.query('SELECT * FROM slow.stream FOR UPDATE')
  const saved = store.saveDelivery(incoming('evt_1'))
  const session = new pg.Client(server.url)
  await session.connect()
  onTestFinished(() => session.end())
  // The wait for the lock ends by statement_timeout; the next try is a statement of its own.
  const begun = new Set<string>()
  while (begun.size < 2) {
    const { rows } = await session.query<{ at: string }>(
      `SELECT query_start::text AS at FROM pg_stat_activity
       WHERE wait_event_type = 'Lock' AND application_name = 'upshot' AND query ~ 'save_deliveries'`,
    )
    for (const { at } of rows) begun.add(at)
  }
  await owner.query('COMMIT')
  expect(await saved).toMatchObject({ verdict: 'accepted' })
  expect((await owner.query('SELECT count(*)::int AS n FROM slow.run')).rows).toEqual([{ n: 1 }])
})
