import { pino } from 'pino'
import { type Clock, isoTime, systemClock } from '../../core/time.ts'
import type { NoticeBus } from '../notice-bus.ts'
import type { KnownSecrets } from './known-secrets.ts'
import { LineLimit } from './line-limit.ts'
import { type LogStream, openLogStream } from './log-stream.ts'
import { type LineLevel, type LogLine, planDropped, planLogLine, serializeError } from './plan-log-line.ts'
import { formatPrettyLine } from './pretty-line.ts'
import { REDACTED } from './redact.ts'
import { StepBars } from './step-bars.ts'

export interface LogOptions {
  level: LineLevel | 'silent'
  /** Default: standard output. */
  destination?: LogStream
  /** Lines for a person at a terminal instead of JSON. */
  pretty?: boolean
  /** Only with `pretty`; false where `NO_COLOR` is set. */
  colour?: boolean
  /** Only with `pretty`: columns of the terminal now. Default: lines are not cut. */
  width?: () => number
  /** Only with `pretty`: whether the terminal shows OSC 8 links. Default false. */
  hasLinks?: boolean
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
  const bars = new StepBars()
  let dropped = 0
  const format = options.pretty ? prettyFormat(clock, options, bars) : jsonFormat(clock)
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
    if (options.pretty) bars.note(notice)
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

type Format = (line: LogLine) => string

function prettyFormat(clock: Clock, options: LogOptions, bars: StepBars): Format {
  const { colour = false, hasLinks = false, width = () => Number.POSITIVE_INFINITY } = options
  const bar = (run: string) => bars.take(run)
  return (line) => formatPrettyLine(line, { now: clock.now(), colour, hasLinks, width: width(), bar })
}

/** Field names that pino redacts as well: a second line of defence behind `redactFacts`. */
const SECRET_FIELDS = ['secret', 'signature', 'authorization', 'cookie', 'apiKey', 'downloadUrl']

/** Formats through pino, which writes a line as soon as it is asked to. */
function jsonFormat(clock: Clock): Format {
  let text = ''
  const capture = {
    write(written: string) {
      text = written
    },
  }
  const logger = pino(
    {
      level: 'debug',
      base: null,
      timestamp: () => `,"time":"${isoTime(clock.now())}"`,
      formatters: { level: (label) => ({ level: label }) },
      messageKey: 'message',
      serializers: { err: serializeError },
      redact: {
        paths: SECRET_FIELDS.flatMap((name) => [name, `facts.${name}`, `facts.*.${name}`]),
        censor: REDACTED,
      },
    },
    capture,
  )
  return ({ level, message, fields }) => {
    logger[level](fields, message)
    return text
  }
}
