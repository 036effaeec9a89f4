import { pino } from 'pino'
import { type Clock, isoTime, systemClock } from '../../core/time.ts'
import { escapeSteering } from './fit-text.ts'
import type { LineFormat } from './log-notices.ts'
import { serializeError } from './plan-log-line.ts'
import { REDACTED } from './redact.ts'

/** Field names that pino redacts as well: a second line of defence behind `redactFacts`. */
const SECRET_FIELDS = ['secret', 'signature', 'authorization', 'cookie', 'apiKey', 'downloadUrl']

export function jsonLines(clock: Clock = systemClock): LineFormat {
  let text = ''
  // Written to as soon as a line is asked for.
  const capture = {
    write(line: string) {
      text = line
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
  return {
    format({ level, message, fields }) {
      logger[level](fields, message)
      return escapeSteering(text)
    },
  }
}
