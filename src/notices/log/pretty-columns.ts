import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { LogLine } from './plan-log-line.ts'

/** A line in columns: what it is about, the text, and what stands at its end. */
export interface Columns {
  name: string
  text: string
  /** Right-aligned, such as `38 ms`. */
  time: string
  id: string
  /** The second line of a failure: the author's frame, and the command to act. */
  below: { frame: Frame | null; command: string } | null
}

/** A place in the author's code. */
export interface Frame {
  /** Relative to the working directory. */
  place: string
  /** Address of the file. */
  href: string
}

/**
 * The columns of deliveries and of ends of runs; null for any other line. `bar`: the steps of a run
 * as characters.
 */
export function planColumns({ message, fields }: LogLine, bar: (run: string) => string): Columns | null {
  const { type, run, workflow } = fields
  if (message.startsWith('delivery ') && typeof type === 'string') return planDelivery(message, fields, type)
  if (typeof run !== 'string' || typeof workflow !== 'string' || 'facts' in fields) return null
  if (message === 'run completed') {
    const count = Number(fields.steps)
    const text = [bar(run), `${count} ${count === 1 ? 'step' : 'steps'}`].filter((part) => part !== '').join(' ')
    return { name: workflow, text, time: formatMs(fields.ms), id: shortId(run), below: null }
  }
  if (message === 'run skipped') {
    bar(run)
    return {
      name: workflow,
      text: `skipped: ${fields.reason}`,
      time: formatMs(fields.ms),
      id: shortId(run),
      below: null,
    }
  }
  if (message !== 'run failed') return null
  bar(run)
  const {
    message: reason = '',
    step,
    at = [],
  } = (fields.err ?? {}) as { message?: string; step?: string; at?: string[] }
  const text = step === undefined ? reason : `${step}: ${reason}`
  const below = { frame: findFrame(at), command: `upshot runs retry ${run}` }
  return { name: workflow, text, time: formatMs(fields.ms), id: '', below }
}

function planDelivery(message: string, fields: LogLine['fields'], type: string): Columns {
  const {
    subject,
    workflows = [],
    ms,
    delivery,
  } = fields as { subject?: string; workflows?: string[] } & LogLine['fields']
  const started = workflows.length === 0 ? '' : `→ ${workflows.join(', ')}`
  const said = message === 'delivery accepted' ? '' : message.replace('delivery ', '')
  const text = [cutFront(subject ?? '', MAX_SUBJECT), said, started].filter((part) => part !== '').join('  ')
  return { name: type, text, time: formatMs(ms), id: said === '' ? '' : String(delivery), below: null }
}

const MAX_SUBJECT = 40

/** Cuts a path at its front: the name is what differs. */
export function cutFront(text: string, length: number): string {
  return text.length <= length ? text : `…${text.slice(1 - length)}`
}

/** Ids differ at their end. */
function shortId(id: string): string {
  return `${id.slice(0, 4)}…${id.slice(-4)}`
}

function formatMs(ms: unknown): string {
  const value = Number(ms)
  if (value < 10_000) return `${Math.round(value)} ms`
  return value < 600_000 ? `${Math.round(value / 1_000)} s` : `${Math.round(value / 60_000)} min`
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
