import { describe, expect, test } from 'vitest'
import type { Store } from '../../src/core/store/store.ts'
import { ManualClock } from '../../src/core/time.ts'
import { doomStore, makeEvents, planCancel, planReplay, startRunner, workUntilOver } from '../admin/support/bulk.ts'
import { DATABASES, type DatabaseName, inDatabase } from '../support/databases.ts'
import { inStore } from '../support/open-place.ts'

const NOW = Date.UTC(2026, 10, 22, 12)
/** A file has so many that they are counted in two calls. */
const RUNS = { SQLite: 6_000, PostgreSQL: 1_000 }
/** Each comes at one of the first ten calls of a life, of which three work on 100 runs. */
const DEATHS = { SQLite: 10, PostgreSQL: 5 }
/** Of so many store calls, one is tried. */
const EVERY = { SQLite: 1, PostgreSQL: 8 }

type Moment = Parameters<typeof doomStore>[2]

/** Works on operations until the process dies at its n-th call. */
async function dieAt(store: Store, clock: ManualClock, [calls, moment]: readonly [number, Moment]): Promise<void> {
  const doomed = doomStore(store, calls, moment)
  startRunner(doomed.store, clock)
  let isDead = false
  void doomed.dead.then(() => {
    isDead = true
  })
  while (!isDead) {
    clock.advance(50)
    await doomed.settled()
    await new Promise((resolve) => setImmediate(resolve))
  }
  clock.advance('10s')
}

async function goOn(store: Store, clock: ManualClock, id: string): Promise<void> {
  const next = startRunner(store, clock)
  await workUntilOver(store, clock, id)
  await next.stop()
}

interface Scenario {
  database: DatabaseName
  prepare: (store: Store) => Promise<unknown>
  plan: () => ReturnType<typeof planCancel> | ReturnType<typeof planReplay>
  check: (store: Store, id: string) => Promise<void>
}

/** Has another process go on after a death at each store call. */
async function dieAtEach({ database, prepare, plan, check }: Scenario): Promise<void> {
  const inNew = <T>(use: (store: Store, clock: ManualClock, id: string) => Promise<T>) =>
    inDatabase(database, (place) =>
      inStore(place, async (store) => {
        await prepare(store)
        const planned = plan()
        await store.startBulk(planned)
        return use(store, new ManualClock(NOW), planned.id)
      }),
    )
  const calls = await inNew(async (store, clock, id) => {
    const counted = doomStore(store, Infinity, 'before')
    const runner = startRunner(counted.store, clock)
    await workUntilOver(store, clock, id)
    await runner.stop()
    return counted.calls()
  })
  const every = Number(process.env.UPSHOT_TEST_EVERY ?? EVERY[database])
  for (let call = 1 + Math.floor(Math.random() * every); call <= calls; call += every) {
    for (const moment of ['before', 'after'] as const) {
      await inNew(async (store, clock, id) => {
        await dieAt(store, clock, [call, moment])
        await goOn(store, clock, id)
        await check(store, id)
      })
    }
  }
}

describe.each(DATABASES)('on %s', (database) => {
  test('an operation over many runs whose process dies again and again ends with each run done once', async () => {
    const total = RUNS[database]
    await inDatabase(database, (place) =>
      inStore(place, async (store) => {
        const clock = new ManualClock(NOW)
        await makeEvents(store, total, { now: NOW - 1, workflows: ['w'] })
        const plan = planCancel(NOW)
        await store.startBulk(plan)
        for (let death = 0; death < DEATHS[database]; death++) {
          await dieAt(store, clock, [1 + Math.floor(Math.random() * 10), death % 2 === 0 ? 'before' : 'after'])
        }
        await goOn(store, clock, plan.id)
        expect(await store.findBulk(plan.id)).toMatchObject({
          status: 'done',
          done: total,
          refused: 0,
          count: { total },
        })
        const rows = await store.listActions({ limit: 2 * total, action: 'run.cancel' })
        expect([rows.length, new Set(rows.map(({ target }) => target)).size]).toEqual([total, total])
        expect(await store.listRuns({ limit: 1, status: 'pending' })).toEqual([])
      }),
    )
  })

  test('another process goes on after a death at any store call, and no run is done twice or left', () =>
    dieAtEach({
      database,
      prepare: (store) => makeEvents(store, 230, { now: NOW - 1, workflows: ['w'] }),
      plan: () => planCancel(NOW),
      async check(store, id) {
        expect(await store.findBulk(id)).toMatchObject({ done: 230, refused: 0 })
        const rows = await store.listActions({ limit: 1_000, action: 'run.cancel' })
        expect([rows.length, new Set(rows.map(({ target }) => target)).size]).toEqual([230, 230])
      },
    }))

  test('a replay whose process dies at any store call makes the runs of each event once', () =>
    dieAtEach({
      database,
      prepare: (store) => makeEvents(store, 120, { now: NOW - 1 }),
      plan: () => planReplay(NOW),
      async check(store, id) {
        expect(await store.findBulk(id)).toMatchObject({ done: 120, refused: 0 })
        const runs = await store.listRuns({ limit: 1_000, origin: 'replay' })
        const each = runs.map(({ eventId, workflow }) => `${eventId} ${workflow}`)
        expect([each.length, new Set(each).size]).toEqual([240, 240])
        expect(await store.listActions({ limit: 1_000, action: 'event.replay' })).toHaveLength(120)
      },
    }))
})
