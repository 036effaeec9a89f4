import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { listOpener } from '../../../../src/app/open-parts.ts'
import { checkDatabase } from '../../../../src/cli/commands/doctor/check-database.ts'
import type { Notice } from '../../../../src/core/notices.ts'
import type { ListReads } from '../../../../src/core/store/store.ts'
import { loadConfig } from '../../../../src/project/config/load-config.ts'
import { openListStore } from '../../../../src/project/data-dir/open-store.ts'
import {
  openPostgresStore,
  openSharedPostgresStore,
  type PostgresStoreOptions,
} from '../../../../src/store/postgres/open-postgres-store.ts'
import { writeRoleSql } from '../../../../src/store/postgres/upkeep/role-sql.ts'
import { incoming } from '../../../support/fixtures.ts'
import { execute, startPostgres, type TestServer } from '../../../support/postgres-server.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { openRelay } from '../support/relay.ts'

/** Commands wait 500 ms for a standby, which a busy machine of the tests may hold up for longer. */
const PATIENT = { timeout: 30_000 }

/** Stores of list commands, which stay open so that the server shows their sessions. */
const commands: { close(): Promise<void> }[] = []

let primary: TestServer
/** Another standby, which becomes the primary in the last test. */
let heir: TestServer
let standby: TestServer
/** The standby's address with a user of the role for reports. */
let readUrl: string

beforeAll(async () => {
  primary = await startPostgres()
  await (await openPostgresStore(describe([primary], []))).close()
  await execute(primary, writeRoleSql('upshot'), 'CREATE ROLE lister LOGIN IN ROLE upshot_read')
  heir = await primary.addStandby()
  standby = await primary.addStandby()
  readUrl = standby.url.replace('postgres@', 'lister@')
})

afterAll(async () => {
  await Promise.all(commands.map((store) => store.close()))
  await Promise.all([primary, heir, standby].map((server) => server.stop()))
})

function describe(hosts: TestServer[], readHosts: string[]): PostgresStoreOptions {
  return {
    hosts: hosts.map(({ url }) => ({ connectionString: url })),
    readHosts: readHosts.map((connectionString) => ({ connectionString })),
    // A busy machine of the tests may hold a sound standby up for longer than 500 ms.
    schema: 'upshot',
    vaultKey: randomBytes(32),
    mayMigrate: true,
    behindMs: 3_000,
  }
}

/** A store with a standby, and what it told of it. */
async function open(hosts: TestServer[], url: string) {
  const store = await openSharedPostgresStore(describe(hosts, [url]))
  onTestFinished(() => store.close())
  const notices: Notice[] = []
  const openLists = listOpener(store, (notice) => notices.push(notice))
  const read = async (lists: ListReads) => {
    const { items } = await lists.searchEvents({}, { rows: 100, limit: 100, after: null })
    return items.map(({ id }) => id).toSorted()
  }
  return { store, notices, openLists, read, list: async () => read(await openLists()) }
}

async function configure(url: string) {
  const environment = {
    UPSHOT_DATABASE_URL: primary.url,
    UPSHOT_DATABASE_READ_URL: url,
    UPSHOT_SECRET_KEY: Buffer.alloc(32).toString('base64'),
  }
  return loadConfig(environment, tempFolder())
}

/** The findings of `upshot doctor` about the standby. */
async function examine(url: string) {
  const config = await configure(url)
  const findings = await checkDatabase({ withStore: async () => 0 as never }, config)
  return findings.filter(({ check }) => check === 'lists')
}

/** Reads as the list commands do. */
async function listByCommand(url: string): Promise<void> {
  const store = await openListStore(await configure(url))
  await store.searchEvents({}, { rows: 1, limit: 1, after: null })
  commands.push(store)
}

/** The servers that have answered a list of events: those where a session of ours searched last. */
async function findAnswering(list: () => Promise<unknown>) {
  const { rows } = await execute(primary, 'SELECT clock_timestamp()::text AS since')
  await list()
  const searches = `SELECT 1 FROM pg_stat_activity WHERE application_name = 'upshot'
    AND query LIKE '%FROM event%' AND query_start > '${rows[0].since}'`
  const found: string[] = []
  for (const [name, server] of Object.entries({ primary, standby, heir })) {
    if ((await execute(server, searches)).rowCount !== 0) found.push(name)
  }
  return found
}

test('a standby answers lists, and the primary does while it is behind or gone', async () => {
  const { store, notices, openLists, read, list } = await open([primary], readUrl)
  const events: string[] = []
  for (let n = 1; n <= 10; n++) {
    events.push(`evt_${n}`)
    await store.saveDelivery(incoming(`evt_${n}`))
    // The writer's next list has it, though the copy comes later.
    expect(await list()).toEqual(events.toSorted())
  }
  expect(notices).toEqual([])
  expect(await findAnswering(list)).toEqual(['standby'])
  await expect
    .poll(() => examine(readUrl), PATIENT)
    .toMatchObject([{ level: 'ok', found: expect.stringContaining('a standby answers them') }])
  await expect.poll(() => findAnswering(() => listByCommand(readUrl)), PATIENT).toEqual(['standby'])

  await execute(standby, 'SELECT pg_wal_replay_pause()')
  await store.saveDelivery(incoming('evt_late'))
  expect(await list()).toContain('evt_late')
  expect(await findAnswering(list)).toEqual(['primary'])
  expect(notices).toEqual([{ kind: 'store.standby_left', why: expect.stringContaining('behind the primary') }])
  await execute(standby, 'SELECT pg_wal_replay_resume()')
  while (notices.length < 2) await list()
  expect(notices[1]).toMatchObject({ kind: 'store.standby_back' })
  expect(await list()).toContain('evt_late')
  expect(await findAnswering(list)).toEqual(['standby'])

  const begun = await openLists()
  await standby.kill()
  expect(await read(begun)).toContain('evt_late')
  for (let n = 0; n < 5; n++) expect(await list()).toContain('evt_late')
  expect(await examine(readUrl)).toMatchObject([
    { level: 'warn', found: expect.stringContaining('the primary answers them. The database') },
  ])
  expect(notices.slice(2)).toEqual([{ kind: 'store.standby_left', why: expect.stringContaining('does not answer') }])
  await standby.start()
  while (notices.length < 4) await list()
  expect(notices[3]).toMatchObject({ kind: 'store.standby_back' })
  expect(await list()).toContain('evt_late')
})

test('a start refuses another database, and goes on where the standby has become a primary', async () => {
  const other = { name: 'another server', url: inject('databaseUrl') }
  const sibling = { name: 'another database of the server', url: standby.url.replace(/postgres$/, 'template1') }
  for (const { name, url } of [other, sibling]) {
    const opening = openSharedPostgresStore(describe([primary], [standby.url, url]))
    await expect(opening, name).rejects.toMatchObject({
      code: 'invalid_config',
      message: expect.stringContaining('UPSHOT_DATABASE_READ_URL'),
    })
  }
  expect(await examine(sibling.url)).toMatchObject([
    { level: 'fail', found: expect.stringContaining('is not a copy of the database') },
  ])
  const { store, notices, list } = await open([primary], primary.url)
  await store.saveDelivery(incoming('evt_1'))
  expect(await list()).toContain('evt_1')
  expect(notices).toEqual([{ kind: 'store.standby_left', why: expect.stringContaining('is not a standby now') }])
})

test('each session is asked how far its server is, since several standbys may share an address', async () => {
  const { port } = await openRelay(standby.port, heir.port)
  const { store, openLists, read, list } = await open([primary], readUrl.replace(`${standby.port}`, `${port}`))
  const [first] = await findAnswering(list)
  const other = first === 'standby' ? heir : standby
  await execute(other, 'SELECT pg_wal_replay_pause()')
  onTestFinished(async () => void (await execute(other, 'SELECT pg_wal_replay_resume()')))
  await store.saveDelivery(incoming('evt_relayed'))
  const lists = await openLists()
  // The second of two reads at once goes to the other server.
  for (const found of await Promise.all([read(lists), read(lists)])) expect(found).toContain('evt_relayed')
})

test('a standby whose network swallows everything keeps no list waiting, and no stop', async () => {
  const { port, swallow } = await openRelay(standby.port)
  const { store, notices, list } = await open([primary], readUrl.replace(`${standby.port}`, `${port}`))
  expect(await list()).toContain('evt_relayed')
  expect(notices).toEqual([])
  swallow()
  expect(await list()).toContain('evt_relayed')
  expect(notices).toEqual([{ kind: 'store.standby_left', why: expect.stringContaining('does not answer within') }])
  await store.close()
})

test('a standby that follows a primary of before answers no list', async () => {
  const { store, notices, list } = await open([primary, heir], readUrl)
  await store.saveDelivery(incoming('evt_kept'))
  expect(await list()).toContain('evt_kept')
  while ((await execute(heir, `SELECT 1 FROM upshot.event WHERE id = 'evt_kept'`)).rowCount === 0);
  await execute(heir, `ALTER SYSTEM SET primary_conninfo = ''`, 'SELECT pg_reload_conf()')
  while ((await execute(heir, `SELECT 1 FROM pg_stat_wal_receiver WHERE status = 'streaming'`)).rowCount !== 0);
  for (let n = 0; n < 50; n++) await store.saveDelivery(incoming(`evt_lost_${n}`))
  expect(await list()).toContain('evt_lost_49')
  expect(notices).toEqual([])
  await primary.kill()
  await heir.promote()
  // It has more of the log than the new primary, and what it has is gone.
  expect((await list()).filter((id) => /kept|lost/.test(id))).toEqual(['evt_kept'])
  expect(notices).toMatchObject([
    { kind: 'store.standby_left', why: expect.stringContaining('does not follow the primary') },
  ])
})
