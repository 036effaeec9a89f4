import { setImmediate } from 'node:timers/promises'
import { describeError } from '../core/errors.ts'
import type { Publish } from '../core/notices.ts'
import { type CronTrigger, type DueTick, decideDueInSlices, type NextMoment } from '../core/runs/schedule.ts'
import { listTickAccounts } from '../core/service/list-tick-accounts.ts'
import type { Store } from '../core/store/store.ts'
import { type Clock, waitUntil } from '../core/time.ts'
import { parseCronLine } from './cron-line.ts'

/** Pauses after store errors: they double from the first to the second figure. */
const MIN_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 30_000

/** Default longest sleep, after which a clock that was set back is noticed. */
const MAX_SLEEP_MS = 30_000

/**
 * Turns the due moments of cron lines into runs. Several schedulers may run side by side: the store
 * records each moment once.
 */
export class Scheduler {
  readonly #parts: SchedulerParts
  readonly #followed = new Map<string, FollowedLine>()
  readonly #loops = new Set<Promise<void>>()
  #wanted: readonly Line[]
  #state: 'new' | 'started' | 'stopped' = 'new'

  /** Throws `invalid_workflow` for a bad line or an unknown zone. */
  constructor(parts: SchedulerParts) {
    this.#parts = parts
    this.#wanted = parts.schedules.map(readLine)
  }

  /** Records missed moments at once. A scheduler that was stopped does not start again. */
  start(): void {
    if (this.#state !== 'new') return
    this.#state = 'started'
    for (const line of this.#wanted) this.#begin(line)
  }

  /**
   * Replaces the schedules; unchanged ones go on undisturbed. Throws like the constructor and then
   * changes nothing.
   */
  replace(schedules: SchedulerParts['schedules']): void {
    this.#wanted = schedules.map(readLine)
    if (this.#state !== 'started') return
    const texts = new Map(this.#wanted.map((line) => [line.workflow, line.text]))
    for (const [workflow, { line, abort }] of this.#followed) {
      if (texts.get(workflow) === line.text) continue
      abort.abort()
      this.#followed.delete(workflow)
    }
    for (const line of this.#wanted) if (!this.#followed.has(line.workflow)) this.#begin(line)
  }

  /** Resolves when nothing more will be written. */
  async stop(): Promise<void> {
    this.#state = 'stopped'
    for (const { abort } of this.#followed.values()) abort.abort()
    await Promise.all(this.#loops)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  #begin(line: Line): void {
    const abort = new AbortController()
    this.#followed.set(line.workflow, { line, abort })
    const loop = this.#follow(line, abort.signal).finally(() => this.#loops.delete(loop))
    this.#loops.add(loop)
  }

  async #follow(line: Line, signal: AbortSignal): Promise<void> {
    const { clock, publish } = this.#parts
    let lastAt: number | null = null
    let pauseMs = MIN_PAUSE_MS
    while (!signal.aborted) {
      const now = clock.now()
      let wakeAt: number | null
      try {
        lastAt = await this.#recordDue(line, { knownAt: lastAt, now, signal })
        pauseMs = MIN_PAUSE_MS
        wakeAt = line.nextMoment(now)
      } catch (error) {
        publish({ kind: 'fault', where: `schedule of ${line.workflow}`, error: describeError(error) })
        wakeAt = now + pauseMs
        pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)
      }
      const sleepMs = this.#parts.maxSleepMs ?? MAX_SLEEP_MS
      // It rejects only when the signal aborts, which ends the loop.
      await waitUntil(clock, Math.min(wakeAt ?? Infinity, now + sleepMs), signal).catch(() => {})
    }
  }

  /**
   * Records the moments due since `knownAt`; null: since the last moment in the store. Resolves
   * with the last moment that is recorded now.
   */
  async #recordDue(
    { workflow, schedule, nextMoment }: Line,
    { knownAt, now, signal }: { knownAt: number | null; now: number; signal: AbortSignal },
  ): Promise<number> {
    const { store } = this.#parts
    const recordedAt = knownAt ?? (await store.startSchedule(workflow, schedule.expression, now))
    // A moment recorded while the clock was ahead must not block the schedule until then.
    const lastAt = Math.min(recordedAt, now)
    const { ticks, missed } = await finish(decideDueInSlices(schedule, { lastAt, now, nextMoment }))
    const count = missed > 0 && !signal.aborted ? await store.noteMissed(workflow, missed, lastAt) : 0
    if (count > 0) this.#parts.publish({ kind: 'ticks.missed', workflow, count, since: lastAt })
    for (const tick of ticks) {
      if (signal.aborted) return lastAt
      await this.#record({ workflow, schedule }, tick, now)
    }
    return ticks.at(-1)?.scheduledFor ?? lastAt
  }

  /** A crash between two accounts leaves the moment due, and those recorded are not repeated. */
  async #record({ workflow, schedule }: Pick<Line, 'workflow' | 'schedule'>, tick: DueTick, now: number) {
    const { store } = this.#parts
    const accounts = await listTickAccounts(schedule, () => store.listAccounts())
    for (const account of accounts) {
      const isLast = account === accounts.at(-1)
      const run = await store.recordTick(workflow, tick, now, { overlap: schedule.overlap, account, isLast })
      // The moments that were missed are told of once.
      if (run !== null) this.#announce(workflow, isLast ? tick : { ...tick, missed: 0 }, { account, run })
    }
  }

  #announce(workflow: string, tick: DueTick, about: { account: string; run: string }): void {
    this.#parts.publish({ kind: 'tick.recorded', workflow, ...tick, ...about })
    this.#parts.publish({ kind: 'run.queued', count: 1 })
  }
}

/** Finishes work in slices; other work of the process goes on between them. */
async function finish<T>(slices: Generator<undefined, T>): Promise<T> {
  for (;;) {
    const { done, value } = slices.next()
    if (done) return value
    await setImmediate()
  }
}

export interface SchedulerParts {
  store: Pick<Store, 'startSchedule' | 'noteMissed' | 'recordTick' | 'listAccounts'>
  clock: Clock
  publish: Publish
  schedules: readonly { workflow: string; schedule: CronTrigger }[]
  /** Longest sleep. Default 30 s; Infinity where the clock is never set back. */
  maxSleepMs?: number
}

interface Line {
  workflow: string
  schedule: CronTrigger
  nextMoment: NextMoment
  /** The schedule as JSON, to detect changes. */
  text: string
}

interface FollowedLine {
  line: Line
  abort: AbortController
}

function readLine({ workflow, schedule }: SchedulerParts['schedules'][number]): Line {
  const nextMoment = parseCronLine(schedule.expression, schedule.timezone)
  return { workflow, schedule, nextMoment, text: JSON.stringify(schedule) }
}
