import type { LineLevel, LogLine } from './plan-log-line.ts'

const SIGNS: Record<LineLevel, { sign: string; colour: number }> = {
  debug: { sign: '·', colour: 90 },
  info: { sign: '✓', colour: 32 },
  warn: { sign: '!', colour: 33 },
  error: { sign: '✗', colour: 31 },
}
const DIM = 90

/**
 * A line for a terminal: `12:00:01.123 ✓ verify-transfer completed in 12 ms, 3 steps  run_…`. The
 * time is in this machine's time zone.
 */
export function formatPrettyLine(line: LogLine, { now, colour }: { now: number; colour: boolean }): string {
  const { sign, colour: code } = SIGNS[line.level]
  const paint = (ansi: number, text: string) => (colour && text !== '' ? `\u001B[${ansi}m${text}\u001B[0m` : text)
  const { sentence, rest } = formatSentence(line)
  const parts = [paint(DIM, timeOfDay(now)), paint(code, sign), oneLine(sentence)]
  const details = oneLine(formatFields(rest))
  return `${parts.join(' ')}${details === '' ? '' : `  ${paint(DIM, details)}`}\n`
}

/** Puts the most important fields into a sentence and returns the rest. */
function formatSentence({ message, fields }: LogLine): { sentence: string; rest: Record<string, unknown> } {
  const { workflow, ms, steps, err, run, trace_id, span_id, event, ...others } = fields
  const isOurs = typeof workflow === 'string' && !('facts' in fields)
  const subject = isOurs ? message.replace(/^(run|workflow)\b/, workflow) : message
  const sentence = [
    subject,
    subject === message && workflow !== undefined ? ` (${workflow})` : '',
    ms === undefined ? '' : ` in ${Math.round(Number(ms))} ms`,
    steps === undefined ? '' : `, ${steps} ${steps === 1 ? 'step' : 'steps'}`,
    err === undefined ? '' : `: ${readMessage(err)}`,
  ].join('')
  // The event of a run is one look at the run away.
  return { sentence, rest: run === undefined ? { event, ...others } : { ...others, run } }
}

function readMessage(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'message' in error ? error.message : error
}

/** `name=value` for each field; only the value for ids, whose prefix names them. */
function formatFields(fields: Record<string, unknown>): string {
  return Object.entries(fields)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => {
      if (typeof value === 'object') return formatFields(value as Record<string, unknown>)
      return /^(run|delivery|event)$/.test(name) ? String(value) : `${name}=${value}`
    })
    .filter((text) => text !== '')
    .join(' ')
}

/**
 * Removes control characters: text from outside must not start a new line or steer the terminal.
 */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu, ' ')
}

function timeOfDay(now: number): string {
  const date = new Date(now)
  return `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, '0')}`
}
