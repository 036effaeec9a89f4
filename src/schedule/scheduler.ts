import { describeError } from '../core/errors.ts'
import type { Publish } from '../core/notices.ts'
import { type CronTrigger, type DueTick, decideDue, type NextMoment } from '../core/schedule.ts'
import type { Store } from '../core/store.ts'
import { type Clock, waitUntil } from '../core/time.ts'
import { parseCronLine } from './cron-line.ts'

/** Pauses after a store error: doubled from the first up to the last. */
const SHORTEST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000

/** Turns the due moments of cron lines into runs. The store knows which are done, so any number may run side by side. */
export class Scheduler {
  readonly #parts: SchedulerParts
  readonly #lines: readonly Line[]
  readonly #abort = new AbortController()
  #loops: Promise<unknown> | null = null

  /** Throws `invalid_workflow` for a bad line or an unknown zone. */
  constructor(parts: SchedulerParts) {
    this.#parts = parts
    this.#lines = parts.schedules.map(({ workflow, schedule }) => ({
      workflow,
      schedule,
      nextMoment: parseCronLine(schedule.expression, schedule.timezone),
    }))
  }

  /** Looks at once for moments that passed meanwhile. A scheduler that was stopped stays so. */
  start(): void {
    this.#loops ??= Promise.all(this.#lines.map((line) => this.#follow(line)))
  }

  /** Resolves when nothing more will be written. */
  async stop(): Promise<void> {
    this.#abort.abort()
    await this.#loops
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  async #follow(line: Line): Promise<void> {
    const { clock, publish } = this.#parts
    const { signal } = this.#abort
    let lastAt: number | null = null
    let pauseMs = SHORTEST_PAUSE_MS
    while (!signal.aborted) {
      const now = clock.now()
      let wakeAt: number | null
      try {
        lastAt = await this.#recordDue(line, lastAt, now)
        pauseMs = SHORTEST_PAUSE_MS
        wakeAt = line.nextMoment(now)
      } catch (error) {
        publish({ kind: 'fault', where: `schedule of ${line.workflow}`, error: describeError(error) })
        wakeAt = now + pauseMs
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
      }
      if (wakeAt === null) return
      // It rejects only because of the signal, which ends the loop.
      await waitUntil(clock, wakeAt, signal).catch(() => {})
    }
  }

  /** Gives the last moment that is settled now; it is asked of the store when `knownAt` is null. */
  async #recordDue({ workflow, schedule, nextMoment }: Line, knownAt: number | null, now: number): Promise<number> {
    const { store } = this.#parts
    const recordedAt = knownAt ?? (await store.startSchedule(workflow, schedule.expression, now))
    // A moment recorded while the clock was ahead must not silence the schedule until then.
    const lastAt = Math.min(recordedAt, now)
    const due = decideDue(schedule, { lastAt, now, nextMoment })
    for (const tick of due) {
      if (this.#abort.signal.aborted) return lastAt
      const run = await store.recordTick(workflow, tick, now)
      if (run !== null) this.#announce(workflow, tick, run)
    }
    return due.at(-1)?.scheduledFor ?? lastAt
  }

  #announce(workflow: string, tick: DueTick, run: string): void {
    this.#parts.publish({ kind: 'tick.recorded', workflow, ...tick, run })
    this.#parts.publish({ kind: 'run.queued', count: 1 })
  }
}

/** What a scheduler works with. */
export interface SchedulerParts {
  store: Pick<Store, 'startSchedule' | 'recordTick'>
  clock: Clock
  publish: Publish
  schedules: readonly { workflow: string; schedule: CronTrigger }[]
}

interface Line {
  workflow: string
  schedule: CronTrigger
  nextMoment: NextMoment
}
