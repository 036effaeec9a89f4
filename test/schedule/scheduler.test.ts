import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { cron, type ScheduleOptions } from '../../src/author/cron.ts'
import { UpshotError } from '../../src/core/errors.ts'
import type { Notice } from '../../src/core/notices.ts'
import type { Store } from '../../src/core/store/store.ts'
import { isoTime, ManualClock, systemClock } from '../../src/core/time.ts'
import { Scheduler, type SchedulerParts } from '../../src/schedule/scheduler.ts'
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts'
import { openTestStore } from '../support/test-store.ts'

/** Tells when the scheduler has done its work and waits for a moment. */
class WatchedClock extends ManualClock {
  #asleep = Promise.withResolvers<void>()

  override at(moment: number, wake: () => void): () => void {
    const cancel = super.at(moment, wake)
    this.#asleep.resolve()
    return cancel
  }

  async untilAsleepAfter(act: () => void): Promise<void> {
    this.#asleep = Promise.withResolvers<void>()
    act()
    await this.#asleep.promise
  }
}

/** Tells when a scheduler has set its next timer. */
class Looks {
  #next = Promise.withResolvers<void>()

  count<T>(timer: T): T {
    this.#next.resolve()
    return timer
  }

  async after(act: () => void): Promise<void> {
    this.#next = Promise.withResolvers<void>()
    act()
    await this.#next.promise
  }
}

const cleanUps: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

function openStore(): Store {
  const folder = mkdtempSync(join(tmpdir(), 'schedule-'))
  cleanUps.push(() => rmSync(folder, { recursive: true }))
  const store = openSqliteStore({ file: join(folder, 'upshot.db'), vaultKey: Buffer.alloc(32, 1) })
  cleanUps.push(() => store.close())
  return store
}

/** A scheduler of one workflow, `nightly`, on a real store. */
class Bench {
  readonly clock: WatchedClock
  readonly store: Store
  readonly notices: Notice[] = []
  readonly scheduler: Scheduler

  constructor(now: string, options: ScheduleOptions & { line?: string; store?: Store; through?: Through } = {}) {
    const { line = '0 3 * * *', store = openStore(), through = {}, ...schedule } = options
    this.clock = new WatchedClock(Date.parse(now))
    this.store = store
    this.scheduler = new Scheduler({
      store: {
        startSchedule: (...given) => (through.startSchedule ?? store.startSchedule)(...given),
        recordTick: (...given) => (through.recordTick ?? store.recordTick)(...given),
      },
      clock: this.clock,
      publish: (notice) => void this.notices.push(notice),
      schedules: [{ workflow: 'nightly', schedule: cron(line, schedule) }],
    })
    cleanUps.push(() => this.scheduler.stop())
  }

  start(): Promise<void> {
    return this.clock.untilAsleepAfter(() => this.scheduler.start())
  }

  /** Moves to a moment at which the scheduler wakes, and waits until it sleeps again. */
  wakeAt(moment: string): Promise<void> {
    return this.clock.untilAsleepAfter(() => this.clock.set(Date.parse(moment)))
  }

  /** Due moments of the runs in the store, in order. */
  async ticks(): Promise<string[]> {
    const runs = await this.store.listRuns({ limit: 1_000, workflow: 'nightly' })
    return runs.map((run) => isoTime(run.tickAt ?? Number.NaN).replace(':00.000Z', 'Z')).sort()
  }

  heard<Kind extends Notice['kind']>(kind: Kind) {
    return this.notices.filter((notice): notice is Extract<Notice, { kind: Kind }> => notice.kind === kind)
  }
}
/** Store calls that a test takes over. */
type Through = Partial<SchedulerParts['store']>

describe('a schedule', () => {
  it('that is new has no past to catch up with, and sleeps until its first moment, half a minute at a time', async () => {
    const bench = new Bench('2026-05-01T12:00Z')
    await bench.start()
    expect(await bench.ticks()).toEqual([])
    expect(isoTime(bench.clock.nextAt() ?? 0)).toBe('2026-05-01T12:00:30.000Z')
    await bench.wakeAt('2026-05-02T02:59:45Z')
    expect(isoTime(bench.clock.nextAt() ?? 0)).toBe('2026-05-02T03:00:00.000Z')
  })

  it('records a tick with its run at each moment, and says so', async () => {
    const bench = new Bench('2026-05-01T12:00Z')
    await bench.start()
    await bench.wakeAt('2026-05-02T03:00:00.004Z')
    await bench.wakeAt('2026-05-03T03:00:00.002Z')
    expect(await bench.ticks()).toEqual(['2026-05-02T03:00Z', '2026-05-03T03:00Z'])
    expect(bench.heard('tick.recorded').map(({ missed }) => missed)).toEqual([0, 0])
    expect(bench.heard('run.queued')).toEqual([
      { kind: 'run.queued', count: 1 },
      { kind: 'run.queued', count: 1 },
    ])
    const runs = await bench.store.listRuns({ limit: 9 })
    expect(runs.map((run) => run.id).sort()).toEqual(
      bench
        .heard('tick.recorded')
        .map(({ run }) => run)
        .sort(),
    )
  })

  it('makes its time in its own zone', async () => {
    const bench = new Bench('2026-03-27T12:00Z', { line: '30 2 * * *', timezone: 'Europe/Berlin' })
    await bench.start()
    for (const moment of ['2026-03-28T01:30Z', '2026-03-29T01:00Z', '2026-03-30T00:30Z']) await bench.wakeAt(moment)
    expect(await bench.ticks()).toEqual(['2026-03-28T01:30Z', '2026-03-29T01:00Z', '2026-03-30T00:30Z'])
  })

  it('with a bad line is refused before anything starts', () => {
    expect(() => new Bench('2026-05-01T12:00Z', { line: '0 25 * * *' })).toThrow(/hour "25"/)
    expect(() => new Bench('2026-05-01T12:00Z', { timezone: 'Mars' })).toThrow(/not a time zone/)
  })
})

describe('after a pause of three days', () => {
  const missed = ['2026-05-02T03:00Z', '2026-05-03T03:00Z', '2026-05-04T03:00Z']

  async function restart(options: ScheduleOptions): Promise<Bench> {
    const before = new Bench('2026-05-01T12:00Z', options)
    await before.start()
    await before.scheduler.stop()
    const after = new Bench('2026-05-04T12:00Z', { ...options, store: before.store })
    await after.start()
    return after
  }

  it('the latest moment is caught up with at the start, and the others are counted', async () => {
    const bench = await restart({})
    expect(await bench.ticks()).toEqual(missed.slice(2))
    expect(bench.heard('tick.recorded')).toMatchObject([{ missed: 2 }])
  })

  it('all moments are caught up with where the author wants all', async () => {
    const bench = await restart({ catchUp: 'all', within: '7d' })
    expect(await bench.ticks()).toEqual(missed)
  })

  it('none is where the author wants none, and the next tick counts them', async () => {
    const bench = await restart({ catchUp: 'skip' })
    expect(await bench.ticks()).toEqual([])
    await bench.wakeAt('2026-05-05T03:00Z')
    expect(bench.heard('tick.recorded')).toMatchObject([{ missed: 3 }])
  })

  it('none is that lies outside the window', async () => {
    expect(await (await restart({ within: '2h' })).ticks()).toEqual([])
  })
})

describe('two schedulers on one store', () => {
  it('make one run of each moment, and one of them says so', async () => {
    const one = new Bench('2026-05-01T12:00Z')
    const other = new Bench('2026-05-01T12:00Z', { store: one.store })
    await Promise.all([one.start(), other.start()])
    for (const moment of ['2026-05-02T03:00Z', '2026-05-03T03:00Z']) {
      await Promise.all([one.wakeAt(moment), other.wakeAt(moment)])
    }
    expect(await one.ticks()).toEqual(['2026-05-02T03:00Z', '2026-05-03T03:00Z'])
    expect([...one.heard('tick.recorded'), ...other.heard('tick.recorded')]).toHaveLength(2)
    expect([...one.heard('run.queued'), ...other.heard('run.queued')]).toHaveLength(2)
  })
})

describe('two schedulers with a store each on one database', () => {
  it('fire each tick once', async () => {
    const first = openTestStore()
    const one = new Bench('2026-05-01T12:00Z', { store: first, line: '* * * * *' })
    const other = new Bench('2026-05-01T12:00Z', { store: openTestStore(first.folder), line: '* * * * *' })
    await Promise.all([one.start(), other.start()])
    const minutes = ['12:01', '12:02', '12:03', '12:04', '12:05']
    for (const minute of minutes) {
      const moment = `2026-05-01T${minute}:00.007Z`
      await Promise.all([one.wakeAt(moment), other.wakeAt(moment)])
    }
    expect(await other.ticks()).toEqual(minutes.map((minute) => `2026-05-01T${minute}Z`))
    expect([...one.heard('tick.recorded'), ...other.heard('tick.recorded')]).toHaveLength(5)
  })
})

describe('a tick that falls due while the one before is at work', () => {
  const statuses = async ({ store }: Bench) =>
    (await store.listRuns({ limit: 9 })).map(({ status }) => status).toReversed()

  it.each([
    { overlap: 'queue', expected: ['pending', 'waiting'] },
    { overlap: 'skip', expected: ['pending', 'skipped'] },
    { overlap: 'allow', expected: ['pending', 'pending'] },
  ] as const)('is treated as its author wants: $overlap', async ({ overlap, expected }) => {
    const bench = new Bench('2026-05-01T12:00Z', { overlap })
    await bench.start()
    await bench.wakeAt('2026-05-02T03:00Z')
    await bench.wakeAt('2026-05-03T03:00Z')
    expect(await statuses(bench)).toEqual(expected)
  })
})

describe('a clock', () => {
  it('set forward over several moments makes the schedule catch up', async () => {
    const bench = new Bench('2026-05-01T12:00Z')
    await bench.start()
    await bench.wakeAt('2026-05-03T12:00Z')
    expect(await bench.ticks()).toEqual(['2026-05-03T03:00Z'])
    expect(bench.heard('tick.recorded')).toMatchObject([{ missed: 1 }])
  })

  it('set back runs no moment twice', async () => {
    const bench = new Bench('2026-05-01T12:00Z')
    await bench.start()
    await bench.wakeAt('2026-05-02T03:00Z')
    bench.clock.set(Date.parse('2026-05-02T02:00Z'))
    await bench.wakeAt('2026-05-03T03:00Z')
    expect(await bench.ticks()).toEqual(['2026-05-02T03:00Z', '2026-05-03T03:00Z'])
  })

  it('set back while the process was down runs no moment twice', async () => {
    const before = new Bench('2026-05-01T12:00Z')
    await before.start()
    await before.wakeAt('2026-05-02T03:00Z')
    await before.scheduler.stop()
    const after = new Bench('2026-05-02T02:00Z', { store: before.store })
    await after.start()
    await after.wakeAt('2026-05-02T03:00Z')
    expect(await after.ticks()).toEqual(['2026-05-02T03:00Z'])
    expect(after.heard('tick.recorded')).toEqual([])
  })

  it('that was years ahead and is put right while the schedule sleeps does not silence it', async () => {
    // The system's clock itself: its timers count what passes, whatever it shows.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: Date.parse('2038-01-19T00:00Z') })
    cleanUps.push(() => void vi.useRealTimers())
    const store = openStore()
    const looked = new Looks()
    const recorded = Promise.withResolvers<number>()
    const scheduler = new Scheduler({
      store,
      clock: { now: systemClock.now, at: (moment, wake) => looked.count(systemClock.at(moment, wake)) },
      publish: (notice) => (notice.kind === 'tick.recorded' ? recorded.resolve(notice.scheduledFor) : undefined),
      schedules: [{ workflow: 'nightly', schedule: cron('0 3 1 * *') }],
    })
    cleanUps.push(() => scheduler.stop())
    await looked.after(() => scheduler.start())
    vi.setSystemTime(Date.parse('2026-06-01T02:59:10Z'))
    for (const _look of [1, 2]) await looked.after(() => vi.advanceTimersByTime(30_000))
    expect(isoTime(await recorded.promise)).toBe('2026-06-01T03:00:00.000Z')
  })

  it('that was years ahead does not silence the schedule once it is right again', async () => {
    const before = new Bench('2038-01-19T00:00Z')
    await before.start()
    await before.wakeAt('2038-01-19T03:00Z')
    await before.scheduler.stop()
    const after = new Bench('2026-05-01T12:00Z', { store: before.store })
    await after.start()
    await after.wakeAt('2026-05-02T03:00Z')
    await after.wakeAt('2026-05-03T03:00Z')
    expect(await after.ticks()).toEqual(['2026-05-02T03:00Z', '2026-05-03T03:00Z', '2038-01-19T03:00Z'])
  })
})

describe('schedules that are replaced', () => {
  it('leave the ones that stay alone, end those that go, and follow new ones from now on', async () => {
    const bench = new Bench('2026-05-01T12:00Z')
    await bench.start()
    const same = { workflow: 'nightly', schedule: cron('0 3 * * *') }
    await bench.clock.untilAsleepAfter(() =>
      bench.scheduler.replace([same, { workflow: 'noon', schedule: cron('0 12 * * *') }]),
    )
    await bench.wakeAt('2026-05-02T03:00Z')
    bench.scheduler.replace([{ workflow: 'noon', schedule: cron('0 12 * * *') }])
    await bench.wakeAt('2026-05-02T12:00Z')
    await bench.wakeAt('2026-05-03T04:00Z')
    expect(await bench.ticks()).toEqual(['2026-05-02T03:00Z'])
    expect(bench.heard('tick.recorded').map(({ workflow }) => workflow)).toEqual(['nightly', 'noon'])
  })

  it('with a bad line among them stay as they were', async () => {
    const bench = new Bench('2026-05-01T12:00Z')
    await bench.start()
    expect(() => bench.scheduler.replace([{ workflow: 'bad', schedule: cron('0 25 * * *') }])).toThrow(/hour "25"/)
    await bench.wakeAt('2026-05-02T03:00Z')
    expect(await bench.ticks()).toEqual(['2026-05-02T03:00Z'])
  })
})

describe('a store that fails', () => {
  const failure = () => Promise.reject(new UpshotError('store_unavailable', 'the disk is full'))

  it('is tried again after pauses that grow up to half a minute, and no moment is lost', async () => {
    const through: Through = { startSchedule: failure }
    const bench = new Bench('2026-05-01T12:00Z', { through })
    const pauses: number[] = []
    await bench.start()
    for (let attempt = 0; attempt < 7; attempt++) {
      const [now, next] = [bench.clock.now(), bench.clock.nextAt() ?? 0]
      pauses.push((next - now) / 1_000)
      await bench.wakeAt(isoTime(next))
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 30, 30])
    expect(bench.heard('fault')[0]).toMatchObject({
      where: 'schedule of nightly',
      error: { message: 'the disk is full' },
    })
    delete through.startSchedule
    await bench.wakeAt(isoTime(bench.clock.nextAt() ?? 0))
    await bench.wakeAt('2026-05-02T03:00Z')
    expect(await bench.ticks()).toEqual(['2026-05-02T03:00Z'])

    through.recordTick = failure
    await bench.wakeAt('2026-05-03T03:00Z')
    expect(isoTime(bench.clock.nextAt() ?? 0)).toBe('2026-05-03T03:00:01.000Z')
  })

  it('in the middle of a catch-up leaves the rest for the next try', async () => {
    const through: Through = {}
    const bench = new Bench('2026-05-01T12:00Z', { through, catchUp: 'all', within: '7d' })
    await bench.start()
    through.recordTick = (workflow, tick, now) =>
      tick.scheduledFor > Date.parse('2026-05-02T12:00Z') ? failure() : bench.store.recordTick(workflow, tick, now)
    await bench.wakeAt('2026-05-04T12:00Z')
    expect(await bench.ticks()).toEqual(['2026-05-02T03:00Z'])
    delete through.recordTick
    await bench.wakeAt('2026-05-04T12:00:01Z')
    expect(await bench.ticks()).toEqual(['2026-05-02T03:00Z', '2026-05-03T03:00Z', '2026-05-04T03:00Z'])
    expect(bench.heard('tick.recorded')).toHaveLength(3)
  })

  it('for one schedule does not hold up another', async () => {
    const store = openStore()
    const clock = new WatchedClock(Date.parse('2026-05-01T12:00Z'))
    const recorded = Promise.withResolvers<string>()
    const scheduler = new Scheduler({
      store: {
        startSchedule: (workflow, ...rest) =>
          workflow === 'broken' ? failure() : store.startSchedule(workflow, ...rest),
        recordTick: store.recordTick,
      },
      clock,
      publish: (notice) => (notice.kind === 'tick.recorded' ? recorded.resolve(notice.workflow) : undefined),
      schedules: ['broken', 'sound'].map((workflow) => ({
        workflow,
        schedule: cron('0 3 * * *', { catchUp: 'latest' }),
      })),
    })
    cleanUps.push(() => scheduler.stop())
    await store.startSchedule('sound', '0 3 * * *', Date.parse('2026-04-30T12:00Z'))
    scheduler.start()
    expect(await recorded.promise).toBe('sound')
  })
})

describe('start and stop', () => {
  it('may be called twice, in any order', async () => {
    const store = openStore()
    let starts = 0
    const startSchedule: Store['startSchedule'] = (...given) => {
      starts++
      return store.startSchedule(...given)
    }
    const bench = new Bench('2026-05-01T12:00Z', { store, through: { startSchedule } })
    await bench.start()
    bench.scheduler.start()
    expect(starts).toBe(1)
    await bench.wakeAt('2026-05-02T03:00Z')
    await Promise.all([bench.scheduler.stop(), bench.scheduler.stop()])
    await bench.scheduler.stop()
    expect(await bench.ticks()).toEqual(['2026-05-02T03:00Z'])
    expect(bench.clock.nextAt()).toBeNull()

    const unused = new Bench('2026-05-01T12:00Z')
    await unused.scheduler.stop()
    unused.scheduler.start()
    await unused.scheduler.stop()
    expect(unused.clock.nextAt()).toBeNull()
  })

  it('stop waits for the write under way, and lets none follow', async () => {
    const before = new Bench('2026-05-01T12:00Z', { catchUp: 'all', within: '7d' })
    await before.start()
    await before.scheduler.stop()
    const entered = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    const recordTick: Store['recordTick'] = async (...given) => {
      entered.resolve()
      await gate.promise
      return before.store.recordTick(...given)
    }
    const options = { store: before.store, catchUp: 'all', within: '7d', through: { recordTick } } as const
    const bench = new Bench('2026-05-04T12:00Z', options)
    bench.scheduler.start()
    await entered.promise
    let isStopped = false
    const stop = bench.scheduler.stop().then(() => {
      isStopped = true
    })
    await new Promise(setImmediate)
    expect(isStopped).toBe(false)
    gate.resolve()
    await stop
    expect(await bench.ticks()).toEqual(['2026-05-02T03:00Z'])
  })
})
