import { UpshotError } from './errors.ts'

/**
 * The source of time. Every stage is given one, so that tests move time instead of waiting for it.
 */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number
  /** Milliseconds since a fixed moment, whatever the clock is set to. Optional. */
  uptime?(): number
  /**
   * Calls `wake` once, at `moment` (epoch milliseconds) or as soon after as possible. The returned
   * function cancels the call.
   */
  at(moment: number, wake: () => void): () => void
}

/**
 * Longer timers are split, so that a clock set forward, or a suspended machine, is noticed within
 * this time.
 */
const MAX_TIMER_MS = 30_000

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  uptime: () => performance.now(),
  at(moment, wake) {
    let timer: NodeJS.Timeout
    const arm = () => {
      const waitMs = moment - Date.now()
      timer = setTimeout(waitMs > MAX_TIMER_MS ? arm : wake, Math.min(Math.max(waitMs, 0), MAX_TIMER_MS))
    }
    arm()
    return () => clearTimeout(timer)
  },
}

/** The longest wait of a timer of Node. */
const MAX_WAIT_MS = 2 ** 31 - 1

/**
 * Calls `wake` once, after `ms` milliseconds. A change of the clock neither shortens nor lengthens
 * them, where it has an `uptime`. The returned function cancels the call.
 */
export function after(clock: Clock, ms: number, wake: () => void): () => void {
  if (clock.uptime === undefined) return clock.at(clock.now() + ms, wake)
  let timer: NodeJS.Timeout
  const arm = (leftMs: number) => {
    const waitMs = Math.min(leftMs, MAX_WAIT_MS)
    timer = setTimeout(() => (leftMs > waitMs ? arm(leftMs - waitMs) : wake()), waitMs)
  }
  arm(ms)
  return () => clearTimeout(timer)
}

/** A clock that stands still until a test moves it. */
export class ManualClock implements Clock {
  #now: number
  #timers = new Set<{ moment: number; wake: () => void }>()

  constructor(now = Date.UTC(2026, 0, 1)) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  at(moment: number, wake: () => void): () => void {
    const timer = { moment, wake }
    this.#timers.add(timer)
    if (moment <= this.#now) queueMicrotask(() => this.#fire(timer))
    return () => this.#timers.delete(timer)
  }

  /** Time of the earliest timer; null when none is set. */
  nextAt(): number | null {
    const moments = [...this.#timers].map((timer) => timer.moment)
    return moments.length > 0 ? Math.min(...moments) : null
  }

  /** Moves to `moment`, backwards too, and fires the timers that are due, in order of time. */
  set(moment: number): void {
    this.#now = moment
    const due = [...this.#timers].filter((timer) => timer.moment <= moment).sort((a, b) => a.moment - b.moment)
    for (const timer of due) this.#fire(timer)
  }

  advance(duration: Duration): void {
    this.set(this.#now + parseDuration(duration))
  }

  #fire(timer: { moment: number; wake: () => void }): void {
    if (this.#timers.delete(timer)) timer.wake()
  }
}

/** Resolves at `moment`; rejects with the signal's reason as soon as it aborts. */
export function waitUntil(clock: Clock, moment: number, signal?: AbortSignal): Promise<void> {
  return waitFor((wake) => clock.at(moment, wake), signal)
}

/** The same for `ms` milliseconds from now on, as {@link after} counts them. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return waitFor((wake) => after(clock, ms, wake), signal)
}

function waitFor(set: (wake: () => void) => () => void, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const abort = () => {
      cancel()
      reject(signal?.reason)
    }
    const cancel = set(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    })
    signal?.addEventListener('abort', abort, { once: true })
  })
}

interface Rounds {
  /** From the end of a round to the next one, in milliseconds. */
  everyMs: number
  /** Until the first one. Default 0: it begins at the start. */
  firstMs?: number
}

/** Work that a process repeats in the background until it is stopped. */
export abstract class Loop {
  readonly #clock: Clock
  readonly #rounds: Rounds
  readonly #stopping = new AbortController()
  #work: Promise<void> | null = null

  constructor(clock: Clock, rounds: Rounds) {
    this.#clock = clock
    this.#rounds = rounds
  }

  protected get isAtWork(): boolean {
    return this.#work !== null && !this.signal.aborted
  }

  /** Aborts at the stop. */
  protected get signal(): AbortSignal {
    return this.#stopping.signal
  }

  start(): void {
    this.#work ??= this.#repeat().catch(() => {})
  }

  /** Resolves when the round at work has ended; none follows. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#work
  }

  /** A number that it gives replaces `everyMs` once. */
  protected abstract round(): Promise<number | undefined>

  /** Hears why a round failed; another follows in any case. Default: none fails. */
  protected failed(_error: unknown): void {}

  /** Rejects at the stop. */
  async #repeat(): Promise<void> {
    const { everyMs, firstMs = 0 } = this.#rounds
    const { signal } = this
    if (firstMs > 0) await pause(this.#clock, firstMs, signal)
    while (!signal.aborted) {
      const nextMs = await this.round().catch((error: unknown) => void (signal.aborted || this.failed(error)))
      await pause(this.#clock, nextMs ?? everyMs, signal)
    }
  }
}

type Unit = 'ms' | 's' | 'm' | 'h' | 'd' | 'w'
type Part = `${number}${'' | ' '}${Unit}`

/**
 * A length of time: milliseconds as a number, or text such as `500ms`, `30s`, `15m`, `2h`, `1d`,
 * `1w` or `1h 30m`.
 *
 * Fractions such as `1.5h` are rounded up to whole milliseconds. Anything else throws
 * `invalid_duration`: less than nothing, NaN, or more than 8.6e15 ms.
 */
export type Duration =
  | number
  | Part
  | `${Part}${'' | ' '}${Part}`
  | `${number}${Unit} ${number}${Unit} ${number}${Unit}`

/** Largest duration, about 272,000 years: its end is still a date until the year 3237. */
const MAX_DURATION_MS = 8.6e15
/** The last moment that a date can hold, in epoch milliseconds. */
const MAX_MOMENT = 8.64e15

const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/**
 * The duration in whole milliseconds, rounded up. Throws `invalid_duration`, whose message begins
 * with `option`.
 */
export function parseDuration(duration: number | string, option?: string): number {
  const ms = typeof duration === 'number' ? duration : sumParts(duration)
  if (ms >= 0 && ms <= MAX_DURATION_MS) return roundUp(ms)
  const about = option === undefined ? '' : `${option}: `
  const fault = ms > MAX_DURATION_MS && ms < Infinity ? 'is too long' : 'is not a duration'
  throw new UpshotError(
    'invalid_duration',
    `${about}"${duration}" ${fault}. Write milliseconds as a number, or text such as "30s", "15m", "2h" or "1d".`,
  )
}

/**
 * A moment in whole epoch milliseconds, rounded up. Throws `invalid_duration`, whose message begins
 * with `option`, for an invalid date.
 */
export function parseMoment(moment: Date | number, option: string): number {
  const ms = roundUp(moment instanceof Date || typeof moment === 'number' ? Number(moment) : Number.NaN)
  if (isMoment(ms)) return ms
  throw new UpshotError(
    'invalid_duration',
    `${option}: "${moment}" is not a moment. Give a valid Date, or epoch milliseconds.`,
  )
}

const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:?\d{2})?)?$/i

/**
 * Epoch milliseconds of an ISO 8601 text, in UTC where it names no zone. NaN for anything else, and
 * for a day that its month does not have.
 */
export function readIso(text: string): number {
  const [, year, month, day, time = '00:00', zone = 'Z'] = ISO.exec(text.trim()) ?? []
  const midnight = Date.parse(`${year}-${month}-${day}T00:00:00Z`)
  // JavaScript takes 30 February for 2 March.
  if (!Number.isFinite(midnight) || new Date(midnight).getUTCDate() !== Number(day)) return Number.NaN
  const offset = zone.toUpperCase() === 'Z' ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(-2)}`
  return Date.parse(`${year}-${month}-${day}T${time}${offset}`)
}

/** True for epoch milliseconds that a date can hold. */
export function isMoment(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= MAX_MOMENT
}

/** Fifteen digits hide the error of a binary fraction: 2.2 minutes are 132,000 ms, not 132,001. */
function roundUp(ms: number): number {
  return Number.isInteger(ms) ? ms : Math.ceil(Number(ms.toPrecision(15)))
}

function sumParts(text: unknown): number {
  if (typeof text !== 'string' || !/^\s*(\d+(\.\d+)?\s*(ms|s|m|h|d|w)\s*)+$/.test(text)) return Number.NaN
  const parts = text.matchAll(/(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)/g)
  return [...parts].reduce((sum, [, count, unit]) => sum + Number(count) * (UNIT_MS[unit ?? ''] ?? Number.NaN), 0)
}

/** ISO 8601 text of a moment, for people and interfaces. Everywhere else a moment is a number. */
export function isoTime(moment: number): string {
  return new Date(moment).toISOString()
}

/** A row for interfaces: its moments, in fields named `at` or `…At`, are text. */
type WithIsoTimes<Row> = {
  [Field in keyof Row]: Field extends 'at' | `${string}At` ? IsoTime<Row[Field]> : Row[Field]
}
type IsoTime<Value> = Value extends number ? string : Value

export function withIsoTimes<Row extends object>(row: Row): WithIsoTimes<Row> {
  const fields = Object.entries(row).map(([name, value]) => {
    const isMoment = typeof value === 'number' && /^at$|At$/.test(name)
    return [name, isMoment ? isoTime(value) : value]
  })
  return Object.fromEntries(fields)
}

/** A moment as text; null stays null. */
export function momentOf(moment: number | null): string | null {
  return moment === null ? null : isoTime(moment)
}
