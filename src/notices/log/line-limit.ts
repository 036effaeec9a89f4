import type { Notice } from '../../core/notices.ts'
import type { Clock } from '../../core/time.ts'
import { type LogLine, planRepetition } from './plan-log-line.ts'

/** How many like lines are written in a window; the others are summed up at its end. */
interface Allowance {
  /** Lines with the same key count together. */
  key: string
  lines: number
  windowMs: number
}

interface Window {
  first: LogLine
  left: number
  withheld: number
  cancel: () => void
}

/** Refusals of one reason and endpoint. */
const REFUSALS = { lines: 10, windowMs: 10_000 }
/** Faults with the same message: a full disk is one fault, however many parts meet it. */
const FAULTS = { lines: 1, windowMs: 60_000 }
/** Keys that have a window; lines of further keys share one. */
const MAX_KEYS = 200

/** Lets a few like lines through and sums up the others, so that a flood cannot fill the log. */
export class LineLimit {
  readonly #clock: Clock
  readonly #write: (line: LogLine) => void
  readonly #windows = new Map<string, Window>()

  constructor(clock: Clock, write: (line: LogLine) => void) {
    this.#clock = clock
    this.#write = write
  }

  pass(notice: Notice, line: LogLine): void {
    const allowance = allowanceOf(notice)
    const window = allowance && this.#open(allowance, line)
    if (window?.left === 0) window.withheld += 1
    else {
      if (window) window.left -= 1
      this.#write(line)
    }
  }

  /** Writes the sums that are still open. */
  end(): void {
    for (const key of [...this.#windows.keys()]) this.#close(key)
  }

  #open({ key, lines, windowMs }: Allowance, first: LogLine): Window {
    const known = this.#windows.get(key)
    if (known) return known
    const shared = this.#windows.size >= MAX_KEYS ? 'others' : key
    const taken = this.#windows.get(shared)
    if (taken) return taken
    const cancel = this.#clock.at(this.#clock.now() + windowMs, () => this.#close(shared))
    const window = { first, left: lines, withheld: 0, cancel }
    this.#windows.set(shared, window)
    return window
  }

  #close(key: string): void {
    const window = this.#windows.get(key)
    if (!window) return
    window.cancel()
    this.#windows.delete(key)
    if (window.withheld > 0) this.#write(planRepetition(window.first, window.withheld))
  }
}

/** Null for lines that are never withheld. */
function allowanceOf(notice: Notice): Allowance | null {
  if (notice.kind === 'fault') return { key: `fault ${notice.error.message}`, ...FAULTS }
  if (notice.kind !== 'delivery.received' || notice.event !== null) return null
  const { verdict, endpoint, facts } = notice
  return { key: `${verdict} ${endpoint} ${facts.reason ?? ''}`, ...REFUSALS }
}
