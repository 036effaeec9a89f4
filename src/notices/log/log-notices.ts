import type { Notice } from '../../core/notices.ts'
import { type Clock, systemClock } from '../../core/time.ts'
import type { NoticeBus } from '../notice-bus.ts'
import type { KnownSecrets } from './known-secrets.ts'
import { LineLimit } from './line-limit.ts'
import { type LogStream, openLogStream } from './log-stream.ts'
import { type LineLevel, type LogLine, planDropped, planLogLine } from './plan-log-line.ts'

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
