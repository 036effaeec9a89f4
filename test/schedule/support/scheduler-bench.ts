import { onTestFinished } from 'vitest'
import type { ScheduleOptions } from '../../../src/author/cron.ts'
import type { Notice } from '../../../src/core/notices.ts'
import type { Store } from '../../../src/core/store/store.ts'
import { isoTime, ManualClock } from '../../../src/core/time.ts'
import { Scheduler, type SchedulerParts } from '../../../src/schedule/scheduler.ts'
import { saveLine } from '../../support/lines.ts'
import { openTestStore } from '../../support/test-store.ts'

/** A scheduler of one workflow, `nightly`, on a real store. */
export class SchedulerBench {
  readonly clock: ManualClock
  readonly store: Store
  readonly notices: Notice[] = []
  readonly scheduler: Scheduler
  readonly #line: ScheduleOptions & { line: string }
  #rest = Promise.withResolvers<void>()

  constructor(now: string, options: ScheduleOptions & { line?: string; store?: Store; through?: Through } = {}) {
    const { line = '0 3 * * *', store = openTestStore(), through = {}, ...schedule } = options
    this.clock = new ManualClock(Date.parse(now))
    this.store = store
    this.#line = { line, ...schedule }
    const over = <Name extends keyof Through>(name: Name) =>
      ((...given: never[]) =>
        ((through[name] ?? store[name]) as (...args: never[]) => unknown)(...given)) as Store[Name]
    this.scheduler = new Scheduler({
      store: {
        listDueSchedules: over('listDueSchedules'),
        nextScheduleAt: over('nextScheduleAt'),
        relookSchedules: over('relookSchedules'),
        lookAtSchedule: over('lookAtSchedule'),
        noteMissed: over('noteMissed'),
        recordTick: over('recordTick'),
        sendScheduled: over('sendScheduled'),
        listAccounts: over('listAccounts'),
      },
      clock: this.clock,
      publish: (notice) => void this.notices.push(notice),
      onRest: () => this.#rest.resolve(),
    })
    onTestFinished(() => this.scheduler.stop())
  }

  /** Saves the line, starts, and waits until nothing is left to do. */
  async start(): Promise<void> {
    await saveLine(this.store, 'nightly', this.clock.now(), this.#line)
    await this.untilRestAfter(() => this.scheduler.start())
  }

  /** Moves to a moment at which the scheduler wakes, and waits until it sleeps again. */
  wakeAt(moment: string): Promise<void> {
    return this.untilRestAfter(() => this.clock.set(Date.parse(moment)))
  }

  async untilRestAfter(act: () => void): Promise<void> {
    this.#rest = Promise.withResolvers<void>()
    act()
    await this.#rest.promise
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
