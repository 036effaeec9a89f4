import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Failure } from '../../core/errors.ts'
import { summarizeFailure } from '../../core/runs/failure-group.ts'
import { type Fit, onOneLine, wrapped } from './fit-text.ts'
import type { LogLine } from './plan-log-line.ts'
import { fitDelivery, fitRefusal, REPEATEDLY } from './pretty-delivery.ts'

/** A line in columns: what it is about, the text, and what stands at its end. */
export interface Columns {
  /** In place of the sign of the line's level. */
  sign?: Sign
  name: string
  text: Fit
  /** Right-aligned, such as `38 ms`. */
  time: string
  id: string
  /** The last line: the author's frame, and the command to act. */
  below: { frame: Frame | null; command: string } | null
}

/** A state of a run that is no end well or badly, as the dashboard shows it. */
type Sign = '◷' | '☞' | '⊘' | '⇥' | '⇢'

/** A place in the author's code. */
interface Frame {
  /** Relative to the working directory. */
  place: string
  /** Address of the file. */
  href: string
}

interface About {
  fields: LogLine['fields']
  now: number
  /** The steps of the run as characters; empty before its end. */
  bar: string
}

/** The columns of lines about deliveries, runs and their steps, by message. */
const COLUMNS: Record<string, (about: About) => Partial<Columns> & { text: Fit }> = {
  'run completed': ({ fields: { steps }, bar }) => ({
    text: onOneLine([bar, `${steps} ${steps === 1 ? 'step' : 'steps'}`].filter((part) => part !== '').join(' ')),
  }),
  'run skipped': ({ fields: { reason } }) => ({
    sign: '⇥',
    text: wrapped(`skipped: ${String(reason).replace(/\brun_\w+/g, shortId)}`),
  }),
  'run planned': ({ fields: { reason } }) => ({ sign: '⇢', text: wrapped(`planned: it ${reason}`) }),
  'run canceled': ({ fields: { reason } }) => ({ sign: '⊘', text: wrapped(beginWith('canceled', reason)) }),
  'run failed': ({ fields: { err, run } }) => {
    const { message = '', step, at = [] } = (err ?? {}) as Partial<Failure>
    const text = wrapped(summarizeFailure({ message, ...(step === undefined ? {} : { step }) }))
    return { text, id: '', below: { frame: findFrame(at), command: `upshot runs retry ${run}` } }
  },
  'run parked': ({ fields: { reason, dueAt }, now }) => ({
    sign: '◷',
    text: wrapped(`${reason}${formatMoment(', until', dueAt, now)}`),
  }),
  'run waits for its turn': ({ fields: { reason, dueAt }, now }) => ({
    sign: '◷',
    text: wrapped(`${describeTurn(String(reason), dueAt)}${formatMoment(', until', dueAt, now)}`),
  }),
  'run waits for a person': ({ fields: { reason, run } }) => ({
    sign: '☞',
    text: wrapped(`waits for a person: ${reason}`),
    id: '',
    below: { frame: null, command: `upshot runs show ${run}` },
  }),
  'people have to decide': ({ fields: { reason, approval } }) => ({
    sign: '☞',
    text: wrapped(String(reason)),
    below: { frame: null, command: `upshot approvals show ${approval}` },
  }),
  'approval ended': ({ fields: { approval, status } }) => ({ text: wrapped(`approval ${approval}: ${status}`) }),
  'run will be tried again': ({ fields: { err, dueAt }, now }) => ({
    text: wrapped(`${readMessage(err)}${formatMoment(', again at', dueAt, now)}`),
  }),
  'step will be tried again': ({ fields: { step, err, retryAt }, now }) => ({
    text: wrapped(`${step}: ${readMessage(err)}${formatMoment(', again at', retryAt, now)}`),
  }),
  'step waits for the limit of requests': ({ fields: { step, retryAt }, now }) => ({
    text: wrapped(`${step}: waits for the limit of requests${formatMoment(', until', retryAt, now)}`),
  }),
  'step failed': ({ fields: { step, err, attempt } }) => ({
    text: wrapped(`${step}: ${readMessage(err)}${attempt === 1 ? '' : `, attempt ${attempt} was the last`}`),
  }),
  'tick recorded': ({ fields: { scheduledFor, missed }, now }) => ({
    text: onOneLine(
      `tick${formatMoment(' of', scheduledFor, now)}${missed === 0 ? '' : `, ${missed} missed before it`}`,
    ),
  }),
}

/** Ends of runs, after which their steps are forgotten. */
const ENDS = new Set(['run completed', 'run failed', 'run skipped', 'run planned', 'run canceled'])

interface PrettyFacts {
  now: number
  /** Takes the steps of a run as characters. */
  bar: (run: string) => string
}

/** The columns of deliveries, of what becomes of runs, and of their own log; else null. */
export function planColumns(line: LogLine, { now, bar }: PrettyFacts): Columns | null {
  const { message, fields } = line
  const { run, workflow, ms, facts, trace_id, span_id, event, delivery, type, endpointName, ...others } = fields
  const usual = { name: '', time: formatMs(ms), id: '', below: null }
  if (message.startsWith('delivery ')) {
    const isRefusal = message.startsWith('delivery refused')
    const id = message === 'delivery accepted' || message.endsWith(REPEATEDLY) ? '' : shortId(delivery)
    const text = isRefusal ? fitRefusal(line) : fitDelivery(line)
    return { ...usual, id, name: String(type ?? endpointName ?? 'no endpoint'), text }
  }
  if (typeof workflow !== 'string' || typeof run !== 'string') return null
  const about = { ...usual, name: workflow, id: shortId(run) }
  if (facts !== undefined) return { ...about, text: wrapped([message, ...listFields({ facts, ...others })].join(' ')) }
  const plan = Object.hasOwn(COLUMNS, message) ? COLUMNS[message] : undefined
  if (plan !== undefined) return { ...about, ...plan({ fields, now, bar: ENDS.has(message) ? bar(run) : '' }) }
  return message.startsWith('run ') ? { ...about, text: wrapped(message.slice(4)) } : null
}

/** The moment follows in this machine's time. A run that gathers events waits for no turn. */
function describeTurn(reason: string, dueAt: unknown): string {
  const told = dueAt ? reason.replace(/, until \S+Z$/, '') : reason
  return /^(batch|debounce): /.test(told) ? told : `waits for its turn: ${told}`
}

function beginWith(word: string, text: unknown): string {
  return String(text).startsWith(word) ? String(text) : `${word}: ${text}`
}

export function readMessage(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'message' in error ? error.message : error
}

/** Ids differ at their end. */
function shortId(id: unknown): string {
  const text = String(id)
  return `${text.slice(0, 4)}…${text.slice(-4)}`
}

function formatMs(ms: unknown): string {
  if (ms === undefined || ms === null) return ''
  const value = Number(ms)
  if (value < 10_000) return `${Math.round(value)} ms`
  return value < 600_000 ? `${Math.round(value / 1_000)} s` : `${Math.round(value / 60_000)} min`
}

/** Words and a time of day, with the date where it is not today's; nothing without a moment. */
function formatMoment(words: string, moment: unknown, now: number): string {
  if (moment === undefined || moment === null) return ''
  const date = new Date(moment as string)
  const time = date.toTimeString().slice(0, 8)
  const isToday = date.toDateString() === new Date(now).toDateString()
  return `${words} ${isToday ? time : `${date.toLocaleDateString('sv')} ${time.slice(0, 5)}`}`
}

/** The first frame outside Node and packages. */
function findFrame(at: readonly string[]): Frame | null {
  for (const frame of at) {
    const [, href = '', position = ''] = /\(?((?:file:\/\/|\/)[^()]*?):(\d+)(?::\d+)?\)?$/.exec(frame) ?? []
    if (href === '' || /node_modules|node:/.test(href) || isOurs(href)) continue
    const path = href.startsWith('file:') ? fileURLToPath(href.replace(/\?.*$/, '')) : href
    return { place: `${relative(process.cwd(), path)}:${position}`, href: `file://${path}` }
  }
  return null
}

/** Frames of this program, in a checkout: an author looks for the own code. */
function isOurs(href: string): boolean {
  return href.includes(SOURCE)
}

const SOURCE = fileURLToPath(new URL('../../', import.meta.url))

/**
 * `name=value` for each field, in quotes where the value has spaces; only the value for ids, whose
 * prefix names them.
 */
export function listFields(fields: Record<string, unknown>): string[] {
  return Object.entries(fields)
    .filter(([, value]) => value !== null && value !== undefined)
    .flatMap(([name, value]) => {
      if (value instanceof Date) return `${name}=${value.toISOString()}`
      if (Array.isArray(value)) return value.length === 0 ? '' : nameValue(name, value.join(', '))
      if (typeof value === 'object') return listFields(value as Record<string, unknown>)
      if (/^(run|delivery|event)$/.test(name)) return String(value)
      return nameValue(name, String(value))
    })
    .filter((text) => text !== '')
}

function nameValue(name: string, value: string): string {
  return `${name}=${/\s/.test(value) ? `"${value}"` : value}`
}
