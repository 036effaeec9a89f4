import { expect, onTestFinished, test } from 'vitest'
import { MIGRATIONS, migrate } from '../../../../src/store/postgres/database/migrate.ts'
import { claimNext } from '../../../contract/support/claim-next.ts'
import { checkpoint, NOW, queueRun } from '../../../support/fixtures.ts'
import { NEXT_MIGRATION } from '../../../support/next-migration.ts'
import { makeSchema, openSession, openTestPostgres } from '../../../support/postgres-store.ts'

const KNOWN = MIGRATIONS.length
async function openOld() {
  const place = makeSchema()
  const store = await openTestPostgres(place)
  return { place, store, connect: () => openSession(place) }
}

test('processes of the release before work on a newer schema, and start on it', async () => {
  const { place, store, connect } = await openOld()
  await queueRun(store, 'evt_1')
  const { lease } = await claimNext(store)
  const client = await connect()
  expect(await migrate(client, place.schema, { migrations: [...MIGRATIONS, NEXT_MIGRATION] })).toEqual({
    before: KNOWN,
    after: KNOWN + 1,
  })
  await store.saveCheckpoint(lease, checkpoint('a'))
  await store.completeRun(lease, 'null', NOW)
  expect(await store.checkWritable(NOW)).toMatchObject({ isMigrated: true })
  const hosts = [{ connectionString: place.url }]
  const { openPostgresStore } = await import('../../../../src/store/postgres/open-postgres-store.ts')
  const other = await openPostgresStore({ hosts, schema: place.schema, vaultKey: Buffer.alloc(32) })
  onTestFinished(() => other.close())
  const failing = await queueRun(other, 'evt_2')
  const next = await claimNext(other)
  await other.failRun(next.lease, { name: 'Error', message: 'no' }, NOW)
  await other.retryRun(failing, NOW)
  expect(await other.listRuns({ limit: 9 })).toHaveLength(2)
  // It would take a step back.
  await expect(migrate(client, place.schema)).rejects.toMatchObject({ code: 'invalid_config' })
})

test('a schema that has lost what older processes need is refused by them, with a clear text', async () => {
  const { place, store, connect } = await openOld()
  const breaking = `-- least: ${KNOWN + 1}\nALTER TABLE run DROP COLUMN received CASCADE;`
  await migrate(await connect(), place.schema, { migrations: [...MIGRATIONS, breaking] })
  expect(await store.checkWritable(NOW)).toMatchObject({ isMigrated: false })
  await expect(openTestPostgres(place)).rejects.toMatchObject({
    code: 'invalid_config',
    message:
      `The database has schema ${KNOWN + 1}, for processes of schema ${KNOWN + 1} or newer, ` +
      `and this Upshot only knows ${KNOWN}.`,
    details: { fix: expect.stringContaining('Start the newer Upshot') },
  })
})

test('a migration behind a long reader tries again and again, and deliveries pass meanwhile', async () => {
  const { place, store, connect } = await openOld()
  const [reader, client] = [await connect(), await connect()]
  await reader.query('BEGIN')
  await reader.query('SELECT count(*) FROM work')
  let isDone = false
  const migrated = migrate(client, place.schema, { migrations: [...MIGRATIONS, NEXT_MIGRATION] }).finally(() => {
    isDone = true
  })
  // A try that waited for the reader would hold them until its end, which comes behind them.
  for (let n = 0; n < 60; n++) await queueRun(store, `evt_${n}`)
  expect(isDone).toBe(false)
  await reader.query('COMMIT')
  expect(await migrated).toEqual({ before: KNOWN, after: KNOWN + 1 })
})

test('a reader that never ends is told, and nothing is changed', async () => {
  const { place, connect } = await openOld()
  const [reader, client] = [await connect(), await connect()]
  await reader.query('BEGIN')
  await reader.query('SELECT count(*) FROM work')
  const next = { migrations: [...MIGRATIONS, NEXT_MIGRATION], patienceMs: 0 }
  await expect(migrate(client, place.schema, next)).rejects.toMatchObject({
    code: 'conflict',
    details: { fix: expect.stringContaining('pg_stat_activity') },
  })
  expect((await client.query('SELECT version::int FROM schema_version')).rows).toEqual([{ version: KNOWN }])
})

test('a function is never changed under a process that calls it: its name ends in its version', () => {
  const sql = MIGRATIONS.join('\n')
  const names = [...sql.matchAll(/CREATE FUNCTION (\w+)/g)].map(([, name]) => name)
  expect(names.length).toBeGreaterThan(10)
  // The one without is part of every row, and can never change.
  expect(names.filter((name) => !/_\d+$/.test(name ?? ''))).toEqual(['stream_of'])
  expect(sql).not.toMatch(/CREATE OR REPLACE FUNCTION|ALTER FUNCTION/)
})
