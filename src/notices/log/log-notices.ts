import type { Notice } from '../../core/notices.ts'
import { after, type Clock, systemClock } from '../../core/time.ts'
import type { NoticeBus } from '../notice-bus.ts'
import { type LogStream, openLogStream } from './log-stream.ts'
import { type LineLevel, type LogLine, planDropped, planLogLine } from './plan-log-line.ts'
import type { KnownSecrets } from './redact.ts'

export interface LineFormat {
  /** Empty for a line that is left out. */
  format: (line: LogLine) => string
  /** Told of each notice before its line. */
  note?: (notice: Notice) => void
}

export interface LogOptions {
  level: LineLevel | 'silent'
  /** Default: standard output. */
  destination?: LogStream
  lines: LineFormat
  clock?: Clock
  /** Secrets to redact wherever they stand. */
  secrets?: KnownSecrets
}

/** Writes log lines; `end` ends that. */
interface NoticeLog {
  /** Resolves when every line is written, or after a second for a reader that stalls. */
  end(): Promise<void>
}

/** How long the end waits for a reader that stalls. */
const FLUSH_WITHIN_MS = 1_000

/** Writes a log line for each notice of the level or above; floods of like lines are summed up. */
export function logNotices(bus: Pick<NoticeBus, 'subscribe'>, options: LogOptions): NoticeLog {
  const { level, destination = openLogStream(), clock = systemClock, secrets } = options
  const known = secrets && ((text: string) => secrets.redact(text))
  const { format, note } = options.lines
  let dropped = 0
  const write = (line: LogLine) => {
    const text = format(line)
    if (text === '') return
    if (dropped > 0 && destination.write(format(planDropped(dropped)))) dropped = 0
    // The process may end after a warning.
    const isUrgent = line.level === 'warn' || line.level === 'error'
    if (dropped > 0 || !destination.write(text, isUrgent)) dropped += 1
  }
  const limit = new LineLimit(clock, write)
  const unsubscribe = bus.subscribe('*', (notice) => {
    note?.(notice)
    const line = planLogLine(notice, level, known)
    if (line !== null) limit.pass(notice, line)
  })
  return {
    async end() {
      unsubscribe()
      limit.end()
      await destination.flush(FLUSH_WITHIN_MS)
    },
  }
}

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
/** Steps of a workflow that are tried again after errors with one name. */
const RETRIES = { lines: 10, windowMs: 60_000 }
/** Keys that have a window; lines of further keys share one. */
const MAX_KEYS = 200

/** Lets a few like lines through and sums up the others, so that a flood cannot fill the log. */
class LineLimit {
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
    const cancel = after(this.#clock, windowMs, () => this.#close(shared))
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
  if (notice.kind === 'step.failed')
    return notice.retryAt === null ? null : { key: `step ${notice.workflow} ${notice.error.name}`, ...RETRIES }
  if (notice.kind !== 'delivery.received' || notice.event !== null) return null
  const { verdict, endpoint, facts } = notice
  return { key: `${verdict} ${endpoint} ${facts.reason ?? ''}`, ...REFUSALS }
}

/** Facts of a refusal, a fault or a step that belong to one line alone. */
const OWN_FACTS = new Set([
  'delivery',
  'account',
  'event',
  'type',
  'subject',
  'workflows',
  'runs',
  'ms',
  'where',
  'skewSeconds',
  'contentLength',
  'run',
  'root',
  'parentRun',
  'originRun',
  'step',
  'attempt',
  'retryAt',
  'trace_id',
  'span_id',
])

/** The line that stands for `count` further lines like `first`. */
export function planRepetition({ level, message, fields }: LogLine, count: number): LogLine {
  const shared = Object.entries(fields).filter(([name]) => !OWN_FACTS.has(name))
  return { level, message: `${message}, repeatedly`, fields: { count, ...Object.fromEntries(shared) } }
}
