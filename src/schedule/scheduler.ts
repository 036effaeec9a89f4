import { describeError } from '../core/errors.ts'
import type { Publish } from '../core/notices.ts'
import { type CronTrigger, type DueTick, decideDue, type NextMoment } from '../core/runs/schedule.ts'
import type { Store } from '../core/store/store.ts'
import { type Clock, waitUntil } from '../core/time.ts'
import { parseCronLine } from './cron-line.ts'

/** Pauses after a store error: doubled from the first up to the last. */
const MIN_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 30_000

/** A clock that is set back far, as after a wrong one is put right, is noticed within this. */
const LOOK_EVERY_MS = 30_000

/**
 * Turns the due moments of cron lines into runs. The store knows which are done, so any number may
 * run side by side.
 */
export class Scheduler {
  readonly #parts: SchedulerParts
  readonly #followed = new Map<string, Followed>()
  readonly #loops = new Set<Promise<void>>()
  #wanted: readonly Line[]
  #state: 'new' | 'started' | 'stopped' = 'new'

  /** Throws `invalid_workflow` for a bad line or an unknown zone. */
  constructor(parts: SchedulerParts) {
    this.#parts = parts
    this.#wanted = parts.schedules.map(readLine)
  }

  /** Looks at once for moments that passed meanwhile. A scheduler that was stopped stays so. */
  start(): void {
    if (this.#state !== 'new') return
    this.#state = 'started'
    for (const line of this.#wanted) this.#begin(line)
  }

  /**
   * Follows these schedules from now on; those that are as before go on undisturbed. Throws as the
   * constructor does, and then changes nothing.
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
      // It rejects only because of the signal, which ends the loop. A line without a moment to come
      // may get one: clocks are set back.
      await waitUntil(clock, Math.min(wakeAt ?? Infinity, now + (this.#parts.lookMs ?? LOOK_EVERY_MS)), signal).catch(
        () => {},
      )
    }
  }

  /** Gives the last moment that is settled now; it is asked of the store when `knownAt` is null. */
  async #recordDue(
    { workflow, schedule, nextMoment }: Line,
    { knownAt, now, signal }: { knownAt: number | null; now: number; signal: AbortSignal },
  ): Promise<number> {
    const { store } = this.#parts
    const recordedAt = knownAt ?? (await store.startSchedule(workflow, schedule.expression, now))
    // A moment recorded while the clock was ahead must not silence the schedule until then.
    const lastAt = Math.min(recordedAt, now)
    const due = decideDue(schedule, { lastAt, now, nextMoment })
    for (const tick of due) {
      if (signal.aborted) return lastAt
      const run = await store.recordTick(workflow, tick, now, { overlap: schedule.overlap })
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
  /** How long it sleeps at most; default 30 s. Infinity where the clock only goes forward. */
  lookMs?: number
}

interface Line {
  workflow: string
  schedule: CronTrigger
  nextMoment: NextMoment
  /** Tells a line that was changed from one that was not. */
  text: string
}

interface Followed {
  line: Line
  abort: AbortController
}

function readLine({ workflow, schedule }: SchedulerParts['schedules'][number]): Line {
  const nextMoment = parseCronLine(schedule.expression, schedule.timezone)
  return { workflow, schedule, nextMoment, text: JSON.stringify(schedule) }
}
