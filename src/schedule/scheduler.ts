import { setImmediate } from 'node:timers/promises'
import { describeError } from '../core/errors.ts'
import type { Publish } from '../core/notices.ts'
import {
  type BackfillPlan,
  type CronTrigger,
  type DueCursor,
  type DueSchedule,
  type DueTick,
  decideDue,
  type OncePlan,
  type ScheduleLook,
} from '../core/runs/schedule.ts'
import { listTickAccounts } from '../core/service/account.ts'
import type { Store } from '../core/store/store.ts'
import { type Clock, waitUntil } from '../core/time.ts'
import { missRest, nullIfGone } from './miss-rest.ts'
import { nextMomentOf } from './next-moment.ts'

/** Pauses after store errors: they double from the first to the second figure. */
const MIN_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 30_000

/** Default longest sleep: what another process adds, and a clock set back, is noticed after it. */
const MAX_SLEEP_MS = 1_000

/** Schedules that are read at once, and those that are worked on at a time. */
const PAGE = 500
const AT_ONCE = 64

/** Moments that a backfill passes over in one go, because they ran before. */
const MAX_PASSED = 1_000

/** How often a paused backfill is looked at. */
const PAUSED_LOOK_MS = 30_000

/** How often a schedule is looked at while another session has its row. */
const HELD_LOOK_MS = 100

/**
 * Turns the due moments of schedules into runs. It asks for those that are due, whatever the number
 * of the others. Several schedulers may run side by side: the store records each moment once.
 */
export class Scheduler {
  readonly #parts: SchedulerParts
  readonly #stopped = new AbortController()
  /** Schedules at work by id, so that a long catch-up holds up no other. */
  readonly #working = new Map<string, Promise<void>>()
  /** Those that failed or were held: when each is tried again, and after which pause. */
  readonly #failed = new Map<string, { at: number; pauseMs: number }>()
  /** Those that were worked on since the last look, as they were before. */
  #handled = new Map<string, string>()
  #loop: Promise<void> | null = null
  #wakeUp = () => {}
  #isAwake = false

  constructor(parts: SchedulerParts) {
    this.#parts = parts
  }

  /** Records missed moments at once. A scheduler that was stopped does not start again. */
  start(): void {
    if (!this.#stopped.signal.aborted) this.#loop ??= this.#run()
  }

  wake(): void {
    this.#isAwake = true
    this.#wakeUp()
  }

  /** Resolves when nothing more will be written. */
  async stop(): Promise<void> {
    this.#stopped.abort()
    this.wake()
    await this.#loop
    await Promise.all(this.#working.values())
  }

  async #run(): Promise<void> {
    const { store, clock, publish } = this.#parts
    const { signal } = this.#stopped
    let lastNow = Infinity
    let pauseMs = MIN_PAUSE_MS
    while (!signal.aborted) {
      this.#isAwake = false
      const now = clock.now()
      let wakeAt: number
      try {
        if (now < lastNow) await store.relookSchedules(now)
        lastNow = now
        await this.#beginDue(now)
        wakeAt = Math.min(now + (this.#parts.maxSleepMs ?? MAX_SLEEP_MS), (await store.nextScheduleAt(now)) ?? Infinity)
        pauseMs = MIN_PAUSE_MS
      } catch (error) {
        publish({ kind: 'fault', where: 'schedules', error: describeError(error) })
        lastNow = Infinity
        wakeAt = now + pauseMs
        pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)
      }
      await this.#sleep(Math.min(wakeAt, ...this.#listRetries(now)))
    }
  }

  /** Begins the work on everything that is due by now, and waits for room only. */
  async #beginDue(now: number): Promise<void> {
    const handled = this.#handled
    this.#handled = new Map()
    for (let after: DueCursor | undefined; !this.#stopped.signal.aborted; ) {
      const page = await this.#parts.store.listDueSchedules(now, { limit: PAGE, ...(after && { after }) })
      for (const due of page) {
        // No pause is longer: the clock was set back since.
        const waitMs = (this.#failed.get(due.id)?.at ?? 0) - now
        if (this.#working.has(due.id) || (waitMs > 0 && waitMs <= MAX_PAUSE_MS)) continue
        while (this.#working.size >= AT_ONCE) await Promise.race(this.#working.values())
        if (this.#stopped.signal.aborted) return
        // Nothing came of the work: another session has the row, and its commit takes a while.
        if (handled.get(due.id) === stateOf(due))
          this.#failed.set(due.id, { at: now + HELD_LOOK_MS, pauseMs: MIN_PAUSE_MS })
        else this.#begin(due, now)
      }
      after = page.at(-1)
      if (page.length < PAGE) return
    }
  }

  /** When failed schedules are tried again. Those that are due no more are forgotten. */
  #listRetries(now: number): number[] {
    for (const [id, { at }] of this.#failed) if (at <= now && !this.#working.has(id)) this.#failed.delete(id)
    return [...this.#failed.values()].map(({ at }) => at).filter((at) => at > now)
  }

  #begin(due: DueSchedule, now: number): void {
    const { clock, publish } = this.#parts
    const work = this.#handle(due, now)
      .then(
        () => {
          this.#failed.delete(due.id)
          this.#handled.set(due.id, stateOf(due))
        },
        (error: unknown) => {
          publish({ kind: 'fault', where: `schedule of ${due.name}`, error: describeError(error) })
          const pauseMs = this.#failed.get(due.id)?.pauseMs ?? MIN_PAUSE_MS
          this.#failed.set(due.id, { at: clock.now() + pauseMs, pauseMs: Math.min(pauseMs * 2, MAX_PAUSE_MS) })
        },
      )
      .finally(() => {
        this.#working.delete(due.id)
        // It may be due again, and its next moment counts from now on.
        if (this.#working.size === 0) this.wake()
      })
    this.#working.set(due.id, work)
  }

  async #handle(due: DueSchedule, now: number): Promise<unknown> {
    const { id, name, version, workflow, plan, isPaused } = due
    const { store } = this.#parts
    const { signal } = this.#stopped
    // A pause holds what is due once, where it only counts the moments of a line.
    if (isPaused && plan.kind !== 'cron')
      return store.lookAtSchedule(id, { version, nextAt: now + PAUSED_LOOK_MS }, now)
    if (plan.kind === 'backfill') return this.#fill(due, plan, now)
    if (workflow === null) return this.#send(due, plan, now)
    const nextMoment = nextMomentOf(plan)
    const { ticks, missed } = await finish(decideDue(plan, { lastAt: due.lastAt, now, nextMoment }))
    const count = missed > 0 && !signal.aborted ? await store.noteMissed(id, missed, due.lastAt) : 0
    if (count > 0) this.#parts.publish({ kind: 'ticks.missed', schedule: name, workflow, count, since: due.lastAt })
    const look = { version, nextAt: nextMoment(now) }
    if (ticks.length === 0 && !signal.aborted) return store.lookAtSchedule(id, look, now)
    for (const tick of ticks) {
      if (signal.aborted) return
      // While others are left, the schedule stays due.
      const isLast = tick === ticks.at(-1)
      const about = { id, name, workflow, plan }
      const isNew = await this.#record(about, tick, now, isLast ? look : { version, nextAt: now })
      if (isNew === undefined) return
    }
  }

  /** Records the next moment of a backfill that has no tick yet. */
  async #fill(due: DueSchedule, plan: BackfillPlan, now: number): Promise<void> {
    const { id, name, version, workflow, lastAt, nextAt: dueAt } = due
    const { store } = this.#parts
    const later = now + Math.ceil(60_000 / plan.perMinute)
    // Of several processes one goes on. Where it dies now, another one does so later.
    if (!(await store.lookAtSchedule(id, { version, nextAt: later, dueAt }, now))) return
    const next = nextMomentOf(plan)
    const overlap = plan.line.overlap === 'allow' ? 'allow' : 'queue'
    const of = { id: plan.of, name, workflow: workflow ?? '', plan: { ...plan.line, overlap } } as const
    let handledAt = lastAt
    let skipped = 0
    let nextAt: number | null = null
    for (let moment = next(lastAt); moment !== null && nextAt === null; moment = next(moment)) {
      if (this.#stopped.signal.aborted) return
      const isNew = await this.#record(of, { scheduledFor: moment, missed: 0 }, now, null).catch(nullIfGone)
      if (isNew === null) return missRest(this.#parts, due, { next, now })
      handledAt = moment
      if (isNew) nextAt = later
      else if (++skipped === MAX_PASSED) nextAt = now
    }
    await store.lookAtSchedule(id, { version, nextAt, handledAt, skipped }, now)
  }

  async #send({ id, version }: DueSchedule, plan: CronTrigger | OncePlan, now: number): Promise<unknown> {
    const { store, publish } = this.#parts
    const at = plan.kind === 'once' ? plan.at : now
    if (at > now) return store.lookAtSchedule(id, { version, nextAt: at }, now)
    if (await store.sendScheduled(id, version, now)) publish({ kind: 'run.queued', count: 1 })
  }

  /**
   * A crash between two accounts leaves the moment due, and those recorded are not repeated.
   * Undefined: so does a schedule that another session has.
   */
  async #record(
    { id, plan, ...about }: Recorded,
    tick: DueTick,
    now: number,
    look: ScheduleLook | null,
  ): Promise<boolean | undefined> {
    const { store } = this.#parts
    const accounts = await listTickAccounts(plan, () => store.listAccounts())
    const { overlap } = plan
    let isNew = false
    for (const account of accounts) {
      const isLast = account === accounts.at(-1)
      const how = look === null ? { isManual: true } : { look }
      const run = await store.recordTick(id, tick, now, { overlap, account, isLast, ...how })
      if (run === undefined) return undefined
      // The moments that were missed are told of once.
      if (run !== null) this.#announce(about, isLast ? tick : { ...tick, missed: 0 }, { account, run })
      isNew ||= run !== null
    }
    return isNew
  }

  #announce(
    { name, workflow }: Pick<Recorded, 'name' | 'workflow'>,
    tick: DueTick,
    about: { account: string; run: string },
  ): void {
    this.#parts.publish({ kind: 'tick.recorded', schedule: name, workflow, ...tick, ...about })
    this.#parts.publish({ kind: 'run.queued', count: 1 })
  }

  async #sleep(moment: number): Promise<void> {
    if (this.#isAwake) return
    if (this.#working.size === 0) this.#parts.onRest?.()
    const awake = new AbortController()
    this.#wakeUp = () => awake.abort()
    // It rejects only when it is woken.
    await waitUntil(this.#parts.clock, moment, awake.signal).catch(() => {})
    this.#wakeUp = () => {}
  }
}

/** The part of a due schedule that all work on it changes. */
function stateOf({ version, lastAt, nextAt }: DueSchedule): string {
  return `${version} ${lastAt} ${nextAt}`
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
  store: Pick<
    Store,
    | 'listDueSchedules'
    | 'nextScheduleAt'
    | 'relookSchedules'
    | 'lookAtSchedule'
    | 'noteMissed'
    | 'recordTick'
    | 'sendScheduled'
    | 'listAccounts'
  >
  clock: Clock
  publish: Publish
  /** Longest sleep. Default 1 s; Infinity where the clock is never set back. */
  maxSleepMs?: number
  /** Called whenever it sleeps, and nothing is at work. */
  onRest?: () => void
}

/** A schedule whose moments are recorded. */
interface Recorded {
  id: string
  name: string
  workflow: string
  plan: CronTrigger | OncePlan
}
