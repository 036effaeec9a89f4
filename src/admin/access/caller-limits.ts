import { UpshotError } from '../../core/errors.ts'
import type { Caller } from './caller.ts'

/** Actions of one caller within a minute. */
const MAX_ACTIONS = 120
/** Searches of one caller at a time, and those that wait for their turn. */
const MAX_SEARCHES = 2
const MAX_WAITING = 20

interface Line {
  running: number
  waiting: (() => void)[]
}

/** Bounds what one caller may ask of a process. */
export class CallerLimits {
  readonly #actions = new Attempts(MAX_ACTIONS)
  readonly #lines = new Map<string, Line>()

  /** Throws `too_many_requests` for the 121st action within a minute. */
  countAction(caller: Caller, now: number): void {
    const name = nameOf(caller)
    this.#actions.check(name, now)
    this.#actions.count(name)
  }

  /**
   * Performs a search, two of a caller at a time: a page asks several at once. Throws
   * `too_many_requests` where twenty more wait already.
   */
  async search<Answer>(caller: Caller, perform: () => Promise<Answer>): Promise<Answer> {
    const name = nameOf(caller)
    const line = this.#lines.get(name) ?? { running: 0, waiting: [] }
    this.#lines.set(name, line)
    if (line.running >= MAX_SEARCHES) await waitInLine(line)
    else line.running += 1
    try {
      return await perform()
    } finally {
      const next = line.waiting.shift()
      if (next) next()
      else line.running -= 1
      if (line.running === 0) this.#lines.delete(name)
    }
  }
}

/** Resolves when a search has ended and leaves its place to this one. */
function waitInLine({ waiting }: Line): Promise<void> {
  if (waiting.length < MAX_WAITING) return new Promise((resolve) => waiting.push(resolve))
  throw new UpshotError('too_many_requests', `${MAX_WAITING} of your searches are waiting already.`, {
    fix: 'Wait for their answers.',
  })
}

function nameOf({ kind, id }: Caller): string {
  return `${kind}:${id}`
}

const WINDOW_MS = 60_000

/** Counts attempts by key within a minute, and refuses those above a limit. */
export class Attempts {
  readonly #most: number
  readonly #mostInAll: number
  #startedAt = 0
  #counts = new Map<string, number>()

  /** `most` for each key, and `mostInAll` for all of them together. */
  constructor(most: number, mostInAll = Infinity) {
    this.#most = most
    this.#mostInAll = mostInAll
  }

  /** Throws `too_many_requests` with `retryAt` once the limit is reached. */
  check(key: string, now: number): void {
    if (now >= this.#startedAt + WINDOW_MS || now < this.#startedAt) {
      this.#startedAt = now
      this.#counts.clear()
    }
    const inAll = this.#counts.values().reduce((sum, count) => sum + count, 0)
    if ((this.#counts.get(key) ?? 0) < this.#most && inAll < this.#mostInAll) return
    throw new UpshotError('too_many_requests', 'Too many attempts within a minute.', {
      details: { retryAt: this.#startedAt + WINDOW_MS, fix: 'Wait a minute, then try again.' },
    })
  }

  count(key: string): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
  }
}
