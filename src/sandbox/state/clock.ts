import { z } from 'zod'
import { type Clock, parseDuration } from '../../core/time.ts'
import type { SavedSettings } from './settings.ts'

const savedClock = z.object({ offsetMs: z.number(), now: z.number() })

/** The longest real timer: a machine that slept notices after 30 s what fell due meanwhile. */
const MAX_TIMER_MS = 30_000

/**
 * The sandbox's time: the machine's plus an offset, or a clock that stands still. Survives
 * restarts; moving it fires due timers in order.
 */
export class SandboxClock implements Clock {
  #mode: 'real' | 'manual'
  readonly #settings: SavedSettings
  readonly #startAt: number | null
  #offsetMs: number
  #now: number
  #timers = new Set<{ moment: number; wake: () => void }>()
  #native: NodeJS.Timeout | undefined
  #settled: () => Promise<void> = async () => {}
  #moving: Promise<unknown> = Promise.resolve()

  /** `startAt`: the time of a manual clock that has no saved time. */
  constructor(mode: 'real' | 'manual', settings: SavedSettings, startAt: number | null = null) {
    this.#mode = mode
    this.#settings = settings
    this.#offsetMs = 0
    this.#now = Date.now()
    this.#startAt = startAt
    this.reload()
  }

  /** Continues from the saved time, or from the machine's if there is none. */
  reload(): void {
    const saved = savedClock.safeParse(this.#settings.get('clock')).data
    const real = Date.now() + (saved?.offsetMs ?? 0)
    // The time never goes back, even if the other kind of clock saved it.
    const now = this.mode === 'manual' ? (saved?.now ?? this.#startAt ?? real) : Math.max(saved?.now ?? 0, real)
    this.#now = now
    this.#offsetMs = now - Date.now()
    this.#save()
    this.#fireDue()
  }

  /** `real` follows the machine's time; `manual` stands still until it is advanced. */
  get mode(): 'real' | 'manual' {
    return this.#mode
  }

  now(): number {
    return this.mode === 'manual' ? this.#now : Date.now() + this.#offsetMs
  }

  at(moment: number, wake: () => void): () => void {
    const timer = { moment, wake }
    this.#timers.add(timer)
    if (moment <= this.now()) queueMicrotask(() => this.#fireDue())
    this.#arm()
    return () => this.#timers.delete(timer)
  }

  /**
   * `settled` is awaited between two due timers, so that a retry's own retry falls due in the same
   * move.
   */
  settleWith(settled: () => Promise<void>): void {
    this.#settled = settled
  }

  /**
   * Moves forward; resolves with the new time when everything due on the way is done. A silent
   * receiver delays it by up to the delivery timeout.
   */
  advance(duration: number | string): Promise<number> {
    const ms = parseDuration(duration)
    const moved = this.#moving.then(() => this.#moveTo(this.now() + ms))
    this.#moving = moved.catch(() => {})
    return moved
  }

  /**
   * Follows the machine's time from now on, even if that goes back. Resolves with the new time when
   * everything due is done.
   */
  followMachine(): Promise<number> {
    const moved = this.#moving.then(async () => {
      await this.#settled()
      this.#mode = 'real'
      this.#offsetMs = 0
      this.#save()
      this.#fireDue()
      return this.now()
    })
    this.#moving = moved.catch(() => {})
    return moved
  }

  /** Cancels all timers. `now` still works. */
  stop(): void {
    this.#timers.clear()
    clearTimeout(this.#native)
  }

  async #moveTo(target: number): Promise<number> {
    await this.#settled()
    for (let next = this.#nextAt(); next !== null && next <= target; next = this.#nextAt()) {
      this.#jump(next)
      this.#fireDue()
      await this.#settled()
    }
    this.#jump(target)
    return this.now()
  }

  #jump(moment: number): void {
    const forwardMs = moment - this.now()
    if (forwardMs <= 0) return
    this.#now += forwardMs
    this.#offsetMs += forwardMs
    this.#save()
    this.#arm()
  }

  #nextAt(): number | null {
    const moments = [...this.#timers].map((timer) => timer.moment)
    return moments.length > 0 ? Math.min(...moments) : null
  }

  #fireDue(): void {
    const now = this.now()
    const due = [...this.#timers].filter((timer) => timer.moment <= now).sort((a, b) => a.moment - b.moment)
    for (const timer of due) if (this.#timers.delete(timer)) timer.wake()
    this.#arm()
  }

  #arm(): void {
    clearTimeout(this.#native)
    const next = this.#nextAt()
    if (this.mode === 'manual' || next === null) return
    const waitMs = Math.min(Math.max(next - this.now(), 0), MAX_TIMER_MS)
    this.#native = setTimeout(() => this.#fireDue(), waitMs)
  }

  #save(): void {
    this.#settings.set('clock', { offsetMs: this.#offsetMs, now: this.now() })
  }
}
