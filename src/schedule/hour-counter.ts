import { setImmediate } from 'node:timers/promises'
import { describeError } from '../core/errors.ts'
import type { Publish } from '../core/notices.ts'
import { findUsual } from '../core/runs/usual-time.ts'
import type { CountedHour, DueHour, RunHour } from '../core/store/run-hour.ts'
import type { Store } from '../core/store/store.ts'
import { type Clock, Loop } from '../core/time.ts'
import { followShapes, indexSubjects } from './follow-events.ts'

/** How often it looks for hours that are over, and for those that have changed since. */
const PERIOD_MS = 60_000

type HourStore = Pick<Store, 'findDueHour' | 'readHourRuns' | 'readHourDeliveries' | 'saveHour'>
type CounterStore = HourStore & Parameters<typeof indexSubjects>[0] & Parameters<typeof followShapes>[0]

/**
 * Counts each hour once it is over, and again after a run of it has ended later. It also indexes
 * the subjects of new events and follows their shapes. See decisions 48, 61 and 73.
 */
export class HourCounter extends Loop {
  readonly #store: CounterStore
  readonly #clock: Clock
  readonly #publish: Publish

  constructor({ store, clock, publish }: { store: CounterStore; clock: Clock; publish: Publish }) {
    super(clock, { everyMs: PERIOD_MS })
    this.#store = store
    this.#clock = clock
    this.#publish = publish
  }

  protected async round(): Promise<undefined> {
    const mayGoOn = () => !this.signal.aborted
    await this.#attempt('counting hours', () => countDueHours(this.#store, this.#clock.now(), mayGoOn))
    await this.#attempt('indexing subjects of events', () => indexSubjects(this.#store, mayGoOn))
    await this.#attempt('following shapes of events', () => followShapes(this.#store, this.#publish, mayGoOn))
  }

  /** Work that fails holds up no other. */
  async #attempt(where: string, work: () => Promise<unknown>): Promise<void> {
    try {
      if (!this.signal.aborted) await work()
    } catch (error) {
      if (!this.signal.aborted) this.#publish({ kind: 'fault', where, error: describeError(error) })
    }
  }
}

/**
 * Counts all hours that are due, with a pause after each slice for other work; returns how many.
 */
export async function countDueHours(
  store: HourStore,
  now: number,
  mayGoOn: () => boolean = () => true,
): Promise<number> {
  for (let counted = 0; ; counted++) {
    const due = mayGoOn() ? await store.findDueHour(now) : null
    if (due === null) return counted
    await store.saveHour(due, await countHour(store, due))
    await setImmediate()
  }
}

async function countHour(store: HourStore, { hour }: DueHour): Promise<CountedHour> {
  const groups = new Map<string, Omit<RunHour, 'runs' | 'p50Ms' | 'p95Ms'> & { runs: number; ms: number[] }>()
  for (let after: string | null = null; ; ) {
    const { runs, next } = await store.readHourRuns(hour, after)
    for (const { workflow, status, ms } of runs) {
      const key = `${workflow}\0${status}`
      const group = groups.get(key) ?? { hour, workflow, status, runs: 0, ms: [] }
      groups.set(key, group)
      group.runs += 1
      if (ms !== null) group.ms.push(ms)
    }
    if (next === null) break
    after = next
    await setImmediate()
  }
  const runs = [...groups.values()].map(({ ms, ...group }) => {
    return { ...group, ...(findUsual(ms) ?? { p50Ms: null, p95Ms: null }) }
  })
  return { runs, deliveries: await store.readHourDeliveries(hour) }
}
