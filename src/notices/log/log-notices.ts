import { type DestinationStream, destination as openDestination, pino } from 'pino'
import { type Clock, isoTime, systemClock } from '../../core/time.ts'
import type { NoticeBus } from '../notice-bus.ts'
import { type LineLevel, type LogLine, planLogLine, serializeError } from './plan-log-line.ts'
import { formatPrettyLine } from './pretty-line.ts'
import { REDACTED } from './redact.ts'

export interface LogOptions {
  level: LineLevel | 'silent'
  /** Default: standard output. */
  destination?: DestinationStream
  /** Lines for a person at a terminal instead of JSON. */
  pretty?: boolean
  /** Only with `pretty`; false where `NO_COLOR` is set. */
  colour?: boolean
  clock?: Clock
}

/** Writes a log line for each notice of the level or above; the result ends that. */
export function logNotices(bus: Pick<NoticeBus, 'subscribe'>, options: LogOptions): () => void {
  const { level, destination = openDestination({ fd: 1, sync: true }), clock = systemClock } = options
  const write = options.pretty
    ? prettyWriter(destination, { clock, colour: options.colour ?? false })
    : jsonWriter(destination, clock)
  return bus.subscribe('*', (notice) => {
    const line = planLogLine(notice, level)
    if (line !== null) write(line)
  })
}

type WriteLine = (line: LogLine) => void

function prettyWriter(destination: DestinationStream, { clock, colour }: { clock: Clock; colour: boolean }): WriteLine {
  return (line) => destination.write(formatPrettyLine(line, { now: clock.now(), colour }))
}

/** Field names that pino redacts as well: a second line of defence behind `redactFacts`. */
const SECRET_FIELDS = ['secret', 'signature', 'authorization', 'cookie', 'apiKey', 'downloadUrl']

function jsonWriter(destination: DestinationStream, clock: Clock): WriteLine {
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
    destination,
  )
  return ({ level, message, fields }) => logger[level](fields, message)
}
