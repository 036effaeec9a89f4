import { expect, onTestFinished, test } from 'vitest'
import { planAccount } from '../../../src/core/service/account.ts'
import { ManualClock } from '../../../src/core/time.ts'
import { Scheduler } from '../../../src/schedule/scheduler.ts'
import { SchedulerBench } from '../../schedule/support/scheduler-bench.ts'
import { saveLine } from '../../support/lines.ts'
import { openTwo } from './support/open-two.ts'

const ACME = planAccount(
  {
    name: 'acme',
    plan: 'pro',
    baseUrl: 'https://api.example.com/v1',
    apiKey: 'sk_live_acme',
    fallbackKey: null,
    storages: { storage_a: 'a', storage_b: 'b', storage_c: 'c' },
  },
  0,
)

test('a schedule that another session has is looked at now and then, and run once it is free', async () => {
  const { one, session } = await openTwo()
  let looks = 0
  const listDueSchedules: typeof one.listDueSchedules = (...given) => {
    looks += 1
    // A scheduler that never rests would look again and again.
    if (looks > 20) throw new Error('it spins')
    return one.listDueSchedules(...given)
  }
  const bench = new SchedulerBench('2026-05-01T12:00Z', { store: one, through: { listDueSchedules } })
  await bench.start()
  await saveLine(one, 'other', bench.clock.now(), { line: '0 3 * * *' })
  await session.query('BEGIN')
  await session.query(`SELECT 1 FROM schedule WHERE id = 'nightly' FOR UPDATE`)

  looks = 0
  await bench.wakeAt('2026-05-02T03:00:00.000Z')
  expect(bench.heard('tick.recorded').map(({ schedule }) => schedule)).toEqual(['other'])
  await bench.wakeAt('2026-05-02T03:00:00.100Z')
  expect(bench.heard('tick.recorded')).toHaveLength(1)
  // Two that find it held, and one after each pause, whatever the other session takes.
  expect(looks).toBeLessThanOrEqual(6)

  await session.query('COMMIT')
  await bench.wakeAt('2026-05-02T03:00:00.200Z')
  expect(await bench.ticks()).toEqual(['2026-05-02T03:00Z'])
  expect(bench.heard('fault')).toEqual([])
})

test.each([
  { left: 'moment', options: { catchUp: 'all', within: '7d' }, until: '2026-05-04T03:00Z', most: ['02', '03', '04'] },
  { left: 'account', options: { accounts: 'each' }, until: '2026-05-02T03:00Z', most: ['02', '02'] },
] as const)(
  'the $left whose row another session had, and left as it was, comes before the next one',
  async ({ options, until, most }) => {
    const { one, session } = await openTwo()
    const recordTick: typeof one.recordTick = async (...given) => {
      const run = await one.recordTick(...given)
      // As if the other scheduler were killed before its commit.
      await session.query('ROLLBACK')
      return run
    }
    const through = { recordTick, listAccounts: async () => [ACME] }
    const bench = new SchedulerBench('2026-05-01T12:00Z', { store: one, through, ...options })
    await bench.start()

    await session.query('BEGIN')
    await session.query(`SELECT 1 FROM schedule WHERE id = 'nightly' FOR UPDATE`)
    await bench.wakeAt(until)
    await bench.wakeAt(until.replace('Z', ':01.100Z'))
    expect(await bench.ticks()).toEqual(most.map((day) => `2026-05-${day}T03:00Z`))
  },
)

test('P3: schedulers beside each other record every moment that they catch up with', async () => {
  const { one, two } = await openTwo()
  const begin = Date.parse('2026-05-01T12:00Z')
  const clock = new ManualClock(begin)
  const ids = ['a', 'b', 'c', 'd']
  for (const id of ids) await saveLine(one, id, begin, { line: '* * * * * *', catchUp: 'all', within: '7d' })
  for (const store of [one, two]) {
    const scheduler = new Scheduler({ store, clock, publish: ({ kind }) => expect(kind).not.toBe('fault') })
    onTestFinished(() => scheduler.stop())
    scheduler.start()
  }
  const isAnyDue = async () => (await one.listDueSchedules(clock.now(), { limit: 1 })).length > 0
  for (let round = 0; round < 12; round++) {
    // While they are at work, so that each has a time of its own.
    for (let step = 0; step < 4; step++) {
      clock.advance(Math.floor(Math.random() * 2_500))
      await isAnyDue()
    }
    // The clock stands still from here on.
    while (await isAnyDue());
  }
  const moments = Math.floor((clock.now() - begin) / 1_000)
  expect(await one.listRuns({ limit: 10_000 })).toHaveLength(ids.length * moments)
})
