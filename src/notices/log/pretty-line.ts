import type { LineLevel, LogLine } from './plan-log-line.ts'
import { type Columns, planColumns } from './pretty-columns.ts'
import { wrapWords } from './wrap-words.ts'

const SIGNS: Record<LineLevel, { sign: string; colour: number }> = {
  debug: { sign: '·', colour: 90 },
  info: { sign: '✓', colour: 32 },
  warn: { sign: '!', colour: 33 },
  error: { sign: '✗', colour: 31 },
}
const DIM = 90

export interface PrettyOptions {
  now: number
  colour: boolean
  /** Columns of the terminal; Infinity: no line is cut. */
  width: number
  /** Whether the terminal shows OSC 8 links. */
  hasLinks: boolean
  /** The steps of a run as characters, for the line at its end. */
  bar: (run: string) => string
}

type Paint = (ansi: number, text: string) => string

/**
 * A line for a terminal, with the time in this machine's time zone. Deliveries and ends of runs
 * stand in columns, a failure in two lines. Any other line is a sentence, which goes on below where
 * the terminal is narrow.
 */
export function formatPrettyLine(line: LogLine, options: PrettyOptions): string {
  const { now, colour, bar } = options
  const { sign, colour: code } = SIGNS[line.level]
  const paint: Paint = (ansi, text) => (colour && text !== '' ? `\u001B[${ansi}m${text}\u001B[0m` : text)
  const columns = planColumns(line, bar)
  if (columns !== null)
    return `${paint(DIM, timeOfDay(now))} ${paint(code, sign)} ${formatColumns(columns, paint, options)}`
  const { sentence, rest } = formatSentence(line)
  const head = `${paint(DIM, timeOfDay(now))} ${paint(code, sign)}`
  const said = oneLine(sentence)
  const details = listFields(rest).map(oneLine)
  const whole = details.length === 0 ? said : `${said}  ${details.join(' ')}`
  if (SENTENCE_AT + whole.length <= options.width) {
    return `${head} ${said}${details.length === 0 ? '' : `  ${paint(DIM, details.join(' '))}`}\n`
  }
  const room = options.width - SENTENCE_AT
  const lines = [...wrapWords(said.split(' '), room), ...wrapWords(details, room).map((text) => paint(DIM, text))]
  return `${head} ${lines.join(`\n${' '.repeat(SENTENCE_AT)}`)}\n`
}

/** Columns before a sentence: the time, the sign, and a space after each. */
const SENTENCE_AT = 15

/** Columns of the name, and of everything before the text: time, sign, name and the gaps. */
const NAME_WIDTH = 19
const BEFORE_TEXT = 16 + NAME_WIDTH
/** With less room for the text, the id is left out. */
const MIN_TEXT = 20

function formatColumns({ name, text, time, id, below }: Columns, paint: Paint, options: PrettyOptions): string {
  const width = Math.min(options.width, MAX_WIDTH) - BEFORE_TEXT - 2
  const whole = `${time.padStart(7)}${id === '' ? '' : `  ${id}`}`
  // A narrow terminal shows the text in place of the id.
  const end = width - whole.length < MIN_TEXT ? time.padStart(7) : whole
  const room = Math.max(1, width - end.length)
  const shown = cutEnd(oneLine(text), room)
  const head = `${cutEnd(oneLine(name), NAME_WIDTH).padEnd(NAME_WIDTH)} ${shown.padEnd(room)}  ${paint(DIM, end)}`
  if (below === null) return `${head.trimEnd()}\n`
  const { frame, command } = below
  const place = frame === null ? '' : `at ${link(oneLine(frame.place), frame.href, options.hasLinks)}   `
  return `${head.trimEnd()}\n${' '.repeat(13)}${paint(DIM, place)}${oneLine(command)}\n`
}

/** A wider terminal gets no wider lines: the eye would lose the row. */
const MAX_WIDTH = 140

function cutEnd(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`
}

/** A link of OSC 8, where the terminal has them. */
function link(text: string, href: string, hasLinks: boolean): string {
  return hasLinks ? `\u001B]8;;${encodeURI(href)}\u001B\\${text}\u001B]8;;\u001B\\` : text
}

/** Puts the most important fields into a sentence and returns the rest. */
function formatSentence({ message, fields }: LogLine): { sentence: string; rest: Record<string, unknown> } {
  if (message === 'workflow loaded') return formatLoaded(fields)
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

/** The module is named only where its name is not the workflow's. */
function formatLoaded({ workflow, file, on }: LogLine['fields']): ReturnType<typeof formatSentence> {
  return { sentence: `${workflow} loaded, on ${on}`, rest: file === `${workflow}.workflow.ts` ? {} : { file } }
}

function readMessage(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'message' in error ? error.message : error
}

/** `name=value` for each field; only the value for ids, whose prefix names them. */
function listFields(fields: Record<string, unknown>): string[] {
  return Object.entries(fields)
    .filter(([, value]) => value !== null && value !== undefined)
    .flatMap(([name, value]) => {
      if (typeof value === 'object') return listFields(value as Record<string, unknown>)
      return /^(run|delivery|event)$/.test(name) ? String(value) : `${name}=${value}`
    })
    .filter((text) => text !== '')
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
