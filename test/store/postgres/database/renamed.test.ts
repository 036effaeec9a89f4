import { expect, test } from 'vitest'
import { KEEP_ALL, type PruneBounds } from '../../../../src/core/store/retention.ts'
import { foreseeMigration, migrate } from '../../../../src/store/postgres/database/migrate.ts'
import { openPostgresStore } from '../../../../src/store/postgres/open-postgres-store.ts'
import { claimNext } from '../../../contract/support/claim-next.ts'
import { NOW, queueRun } from '../../../support/fixtures.ts'
import { makeSchema, openSession, openTestPostgres } from '../../../support/postgres-store.ts'

const DAY = 86_400_000

/** A renamed schema, and another one that has its former name: as after a restore beside it. */
async function openRenamed() {
  const [place, renamed] = [makeSchema(), makeSchema()]
  const before = await openWithRun(place)
  await before.close()
  const session = await openSession(renamed)
  await session.query(`ALTER SCHEMA ${place.schema} RENAME TO ${renamed.schema}`)
  return { renamed, session, restored: await openWithRun(place) }
}

async function openWithRun(place: { url: string; schema: string }) {
  const store = await openTestPostgres(place)
  await store.pruneWeek(KEEP_ALL, NOW)
  await queueRun(store, 'evt_1')
  await store.completeRun((await claimNext(store)).lease, 'null', NOW)
  return store
}

test('a schema that was renamed is refused until it is migrated', async () => {
  const { renamed, session } = await openRenamed()
  const options = { hosts: [{ connectionString: renamed.url }], schema: renamed.schema, vaultKey: Buffer.alloc(32) }
  await expect(openPostgresStore(options)).rejects.toMatchObject({
    code: 'invalid_config',
    message: expect.stringContaining('was renamed'),
    details: { fix: expect.stringContaining('upshot db migrate') },
  })
  const { missing, misled } = await foreseeMigration(session)
  expect(missing).toEqual([])
  expect(misled).toContain('drop_runs_1(text,text[],bigint)')
  await migrate(session, renamed.schema)
  expect((await foreseeMigration(session)).misled).toEqual([])
  await (await openPostgresStore(options)).close()
})

test('retention in a schema that was renamed removes its own rows, whoever has its former name', async () => {
  const { renamed, restored } = await openRenamed()
  const old = await openTestPostgres(renamed)
  const at = NOW + 30 * DAY
  const bounds: PruneBounds = { ...KEEP_ALL, runs: at, failures: at, payloads: at, deliveries: at, refusals: at }
  while ((await old.pruneWeek(bounds, at)) !== null);
  expect(await restored.listRuns({ limit: 9 })).toHaveLength(1)
  expect(await restored.listDeliveries({ limit: 9 })).toHaveLength(1)
  expect(await old.listRuns({ limit: 9 })).toHaveLength(0)
})
