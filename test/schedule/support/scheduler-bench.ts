import { onTestFinished } from 'vitest'
import { cron, type ScheduleOptions } from '../../../src/author/cron.ts'
import type { Notice } from '../../../src/core/notices.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { isoTime, ManualClock } from '../../../src/core/time.ts'
import { Scheduler, type SchedulerParts } from '../../../src/schedule/scheduler.ts'
import { openTestStore } from '../../support/test-store.ts'

/** A clock that knows when the scheduler sleeps again. */
export class WatchedClock extends ManualClock {
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

/** A scheduler of one workflow, `nightly`, on a real store. */
export class SchedulerBench {
  readonly clock: WatchedClock
  readonly store: Store
  readonly notices: Notice[] = []
  readonly scheduler: Scheduler

  constructor(now: string, options: ScheduleOptions & { line?: string; store?: Store; through?: Through } = {}) {
    const { line = '0 3 * * *', store = openTestStore(), through = {}, ...schedule } = options
    this.clock = new WatchedClock(Date.parse(now))
    this.store = store
    this.scheduler = new Scheduler({
      store: {
        startSchedule: (...given) => (through.startSchedule ?? store.startSchedule)(...given),
        noteMissed: store.noteMissed,
        recordTick: (...given) => (through.recordTick ?? store.recordTick)(...given),
        listAccounts: () => store.listAccounts(),
      },
      clock: this.clock,
      publish: (notice) => void this.notices.push(notice),
      schedules: [{ workflow: 'nightly', schedule: cron(line, schedule) }],
    })
    onTestFinished(() => this.scheduler.stop())
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
export type Through = Partial<SchedulerParts['store']>
