import type { Notice } from '../../core/notices.ts'
import type { Clock } from '../../core/time.ts'
import { columnsOf, cutEnd, oneLine, padColumns, wrapWords } from './fit-text.ts'
import type { LineFormat } from './log-notices.ts'
import type { LineLevel, LogLine } from './plan-log-line.ts'
import { type Columns, listFields, planColumns, readMessage } from './pretty-columns.ts'
import { REPEATEDLY } from './pretty-delivery.ts'

const SIGNS: Record<LineLevel, { sign: string; colour: number }> = {
  debug: { sign: '·', colour: 90 },
  info: { sign: '✓', colour: 32 },
  warn: { sign: '!', colour: 33 },
  error: { sign: '✗', colour: 31 },
}
const DIM = 90

interface PrettyOptions {
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

/** How lines for a person at a terminal look. */
interface PrettyLines extends Partial<Pick<PrettyOptions, 'colour' | 'hasLinks'>> {
  clock: Clock
  /** Columns of the terminal now. Default: lines are not cut. */
  width?: () => number
}

export function prettyLines({ clock, colour = false, hasLinks = false, width }: PrettyLines): LineFormat {
  const bars = new StepBars()
  const bar = (run: string) => bars.take(run)
  return {
    note: (notice) => bars.note(notice),
    format: (line) =>
      formatPrettyLine(line, { now: clock.now(), colour, hasLinks, bar, width: width?.() ?? Number.POSITIVE_INFINITY }),
  }
}

/**
 * A line for a terminal, with the time in this machine's time zone. Deliveries and ends of runs
 * stand in columns, a failure in two lines. Any other line is a sentence, which goes on below where
 * the terminal is narrow.
 */
export function formatPrettyLine(line: LogLine, options: PrettyOptions): string {
  const { now, colour, bar } = options
  const paint: Paint = (ansi, text) => (colour && text !== '' ? `\u001B[${ansi}m${text}\u001B[0m` : text)
  const columns = planColumns(line, { now, bar })
  const level = SIGNS[line.level]
  const sign = columns?.sign ?? level.sign
  const isQuiet = sign !== level.sign && line.level === 'info'
  const head = `${paint(DIM, timeOfDay(now))} ${paint(isQuiet ? DIM : level.colour, sign)} `
  return `${head}${columns === null ? formatWords(line, paint, options) : formatColumns(columns, paint, options)}`
}

/** A sentence and its fields, which go on below it where they do not fit beside it. */
function formatWords(line: LogLine, paint: Paint, { width }: PrettyOptions): string {
  const { sentence, rest } = formatSentence(line)
  const said = oneLine(sentence)
  const details = listFields(rest).map(oneLine)
  const room = width - SENTENCE_AT
  if (columnsOf([said, ...details].join(' ')) + 1 <= room) {
    return `${said}${details.length === 0 ? '' : `  ${paint(DIM, details.join(' '))}`}\n`
  }
  // Only a text in quotes is broken: an address stays behind its name.
  const words = details.flatMap((detail) => (/"$/.test(detail) ? detail.split(' ') : [detail]))
  const lines = [...wrapWords(said.split(' '), room), ...wrapWords(words, room).map((text) => paint(DIM, text))]
  return `${lines.join(`\n${' '.repeat(SENTENCE_AT)}`)}\n`
}

/** Columns before a sentence: the time, the sign, and a space after each. */
const SENTENCE_AT = 15

/** Columns of the name, and of everything before the text: time, sign, name and the gaps. */
const NAME_WIDTH = 19
const BEFORE_TEXT = SENTENCE_AT + NAME_WIDTH + 1
/** Columns of the time, and of an id behind it. */
const TIME_WIDTH = 7
const ID_WIDTH = 9
/** Columns before the frame and the command. */
const BELOW_AT = 13
/** A narrower terminal shows no ids: their columns are the text's. */
const WITH_IDS = 100
/** A wider terminal gets no wider lines: the eye would lose the row. */
const MAX_WIDTH = 140
const GAP = '  '

function formatColumns({ name, text, time, id, below }: Columns, paint: Paint, options: PrettyOptions): string {
  const { width, hasLinks } = options
  const end = `${time.padStart(TIME_WIDTH)}${width < WITH_IDS ? '' : `${GAP}${id.padEnd(ID_WIDTH)}`}`
  const room = Math.max(1, Math.min(width, MAX_WIDTH) - BEFORE_TEXT - GAP.length - end.length)
  const [first = '', ...others] = text(room)
  const subject = padColumns(cutEnd(oneLine(name), NAME_WIDTH), NAME_WIDTH)
  const head = `${subject} ${padColumns(first, room)}${GAP}`
  const rows = [end.trim() === '' ? head : `${head}${paint(DIM, end.trimEnd())}`, ...others.map(indentBy(BEFORE_TEXT))]
  if (below !== null) rows.push(...formatBelow(below, { room: width - BELOW_AT, paint, hasLinks }))
  return `${rows.map((row) => row.trimEnd()).join('\n')}\n`
}

/** Frame and command, in a line each where the terminal is narrow. */
function formatBelow(
  { frame, command }: NonNullable<Columns['below']>,
  { room, paint, hasLinks }: { room: number; paint: Paint; hasLinks: boolean },
): string[] {
  const indent = indentBy(BELOW_AT)
  if (frame === null) return [indent(oneLine(command))]
  const place = `at ${oneLine(frame.place)}`
  const shown = paint(DIM, `at ${link(oneLine(frame.place), frame.href, hasLinks)}`)
  const isNarrow = columnsOf(place) + 3 + command.length > room
  return isNarrow ? [indent(shown), indent(oneLine(command))] : [indent(`${shown}   ${oneLine(command)}`)]
}

function indentBy(columns: number): (text: string) => string {
  return (text) => `${' '.repeat(columns)}${text}`
}

/** A link of OSC 8, where the terminal has them. */
function link(text: string, href: string, hasLinks: boolean): string {
  return hasLinks ? `\u001B]8;;${encodeURI(href)}\u001B\\${text}\u001B]8;;\u001B\\` : text
}

/** Puts the most important fields into a sentence and returns the rest. */
function formatSentence({ message, fields }: LogLine): { sentence: string; rest: Record<string, unknown> } {
  if (message === 'workflow loaded') return formatLoaded(fields)
  const { workflow, ms, steps, err, run, trace_id, span_id, event, endpointName, ...others } = fields
  const isMany = message.endsWith(REPEATEDLY)
  const told = isMany ? `${message.slice(0, -REPEATEDLY.length)} ×${others.count}` : message
  const subject = typeof workflow === 'string' ? told.replace(/^(run|workflow)\b/, workflow) : told
  const sentence = [
    subject,
    subject === told && workflow !== undefined ? ` (${workflow})` : '',
    ms === undefined ? '' : ` in ${Math.round(Number(ms))} ms`,
    steps === undefined ? '' : `, ${steps} ${steps === 1 ? 'step' : 'steps'}`,
    err === undefined ? '' : `: ${readMessage(err)}`,
  ].join('')
  if (isMany) delete others.count
  // A name says more than an id.
  if (endpointName !== undefined && endpointName !== null) others.endpoint = endpointName
  // The event of a run is one look at the run away.
  return { sentence, rest: run === undefined ? { event, ...others } : { ...others, run } }
}

/** The module is named only where its name is not the workflow's. */
function formatLoaded({ workflow, file, on }: LogLine['fields']): ReturnType<typeof formatSentence> {
  return { sentence: `${workflow} loaded, on ${on}`, rest: file === `${workflow}.workflow.ts` ? {} : { file } }
}

function timeOfDay(now: number): string {
  const date = new Date(now)
  return `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, '0')}`
}

/** Runs whose steps are remembered; the oldest goes first. */
const MAX_RUNS = 1_000
/** Steps that a bar shows. */
const MAX_STEPS = 12
/** From an instant to the longest step of the run. */
const LEVELS = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'] as const

/** Remembers how long the steps of unfinished runs took, for the line at their end. */
class StepBars {
  readonly #byRun = new Map<string, number[]>()

  note(notice: Notice): void {
    if (notice.kind !== 'step.completed') return
    const known = this.#byRun.get(notice.run)
    if (known) known.push(notice.ms)
    else this.#byRun.set(notice.run, [notice.ms])
    if (this.#byRun.size <= MAX_RUNS) return
    const [oldest = ''] = this.#byRun.keys()
    this.#byRun.delete(oldest)
  }

  /** A character per step, by its share of the longest one; empty for a run without steps. */
  take(run: string): string {
    const times = this.#byRun.get(run) ?? []
    this.#byRun.delete(run)
    const longest = Math.max(1, ...times)
    const shown = times.slice(0, MAX_STEPS).map((ms) => LEVELS[Math.round((ms / longest) * (LEVELS.length - 1))])
    return shown.length === 0 ? '' : `▕${shown.join('')}${times.length > MAX_STEPS ? '…' : ''}`
  }
}
