import { randomBytes } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { PRUNE_KINDS, type PruneBounds } from '../../../src/core/store/retention.ts'
import { openPostgresStore } from '../../../src/store/postgres/open-postgres-store.ts'
import { startConsole } from '../../admin/support/start-console.ts'
import { runHere } from '../../cli/support/run-here.ts'
import { incoming } from '../../support/fixtures.ts'
import { makeSchema } from '../../support/postgres-store.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const WEEK = 7 * 86_400_000
const NEVER = Object.fromEntries(PRUNE_KINDS.map((kind) => [kind, null])) as PruneBounds
const mondayOf = (moment: number) => moment - ((moment - 4 * 86_400_000) % WEEK)
const dayOf = (moment: number) => new Date(moment).toISOString().slice(0, 10)

/**
 * A store of four weeks and the present one, the oldest of which has a large body.
 * With runs kept for 30 days, a fifth week would go in the midst of the present one.
 */
async function openFilled() {
  const place = makeSchema()
  const vaultKey = randomBytes(32)
  const options = { hosts: [{ connectionString: place.url }], schema: place.schema, vaultKey, mayMigrate: true }
  const store = await openPostgresStore(options)
  onTestFinished(() => store.close())
  const now = (await store.readClock()) ?? 0
  const first = mondayOf(now) - 4 * WEEK
  await store.pruneWeek(NEVER, first + 1)
  await store.pruneWeek(NEVER, now)
  const data = { note: randomBytes(1_500_000).toString('base64') }
  await store.saveDelivery(incoming('evt_old', { receivedAt: first + 1, data }))
  const env = {
    UPSHOT_DATABASE_URL: `${place.url}?schema=${place.schema}`,
    UPSHOT_SECRET_KEY: vaultKey.toString('base64'),
  }
  const dataDir = tempFolder()
  return { store, now, first, cli: (...args: string[]) => runHere(dataDir, args, { env }) }
}

test('the largest tables and the weeks are told by the store and the page System', async () => {
  const { store, now, first } = await openFilled()
  const room = await store.readServerRoom(now)
  // All of its weeks are one table.
  expect(room?.tables[0]).toEqual({ table: 'event_body', bytes: expect.any(Number) })
  expect(room?.tables[0]?.bytes).toBeGreaterThan(400_000)
  expect(room?.databaseBytes).toBeGreaterThan(room?.tables[0]?.bytes ?? 0)
  const week = { kept: 5, until: mondayOf(now) + 4 * WEEK }
  expect(room?.weeks).toMatchObject([
    { kind: 'runs', ...week, oldest: { from: first, to: first + WEEK } },
    { kind: 'deliveries', ...week, oldest: { from: first } },
    { kind: 'payloads', ...week, oldest: { from: first, bytes: expect.any(Number) } },
  ])
  expect(room?.weeks[2]?.oldest?.bytes).toBeGreaterThan(400_000)
  const { get, clock } = await startConsole({ store })
  clock.advance(now - clock.now())
  const system = await get('/system')
  expect(system.databaseBytes).toBeGreaterThan(room?.tables[0]?.bytes ?? 0)
  expect(system).toMatchObject({
    room: {
      tables: expect.arrayContaining([room?.tables[0]]),
      weeks: [{ kind: 'runs', kept: 5, next: { from: new Date(first).toISOString(), goesAt: null } }, {}, {}],
    },
  })
})

test('"doctor" says which week goes next and when, and "top" shows sizes and weeks', async () => {
  const { now, first, cli } = await openFilled()
  const { findings } = (await cli('doctor', '--json')).json.data
  const found = (check: string) => findings.find((finding: { check: string }) => finding.check === check)
  const ready = `made until ${dayOf(mondayOf(now) + 4 * WEEK)}`
  expect(found('weeks of runs')).toMatchObject({
    level: 'ok',
    // Runs are kept for 30 days.
    found: expect.stringMatching(
      new RegExp(
        `^5 kept, next goes that of ${dayOf(first)} \\(.+\\) on ${dayOf(first + WEEK + 30 * 86_400_000)}, ${ready}$`,
      ),
    ),
  })
  expect(found('weeks of deliveries').found).toContain(dayOf(first + WEEK + 90 * 86_400_000))
  const { stdout } = await cli('top', '--once')
  expect(stdout).toMatch(/tables event_body \d+(\.\d+)? MB .* weeks of runs 5$/m)
  expect(stdout).not.toContain('+ log')
  expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(120)
  expect((await cli('top', '--json')).json.data.system).toMatchObject({
    room: { weeks: [{ kind: 'runs', kept: 5 }, {}, {}] },
  })
})
