import type { AlertRule } from '../../core/alerts/alert-rule.ts'
import type { AlertChange, AlertItem } from '../../core/alerts/decide-message.ts'
import { deriveId } from '../../core/ids.ts'
import { isoTime } from '../../core/time.ts'

/** A message as channels write it: names, counts, links, tags; no content of events or files. */
export interface AlertMessage {
  /** `alr_…`: the same where another process sends it again after a crash. */
  id: string
  /** Epoch milliseconds. */
  at: number
  rule: string
  when: AlertRule['when']
  summary: string
  items: readonly MessageItem[]
  /** Items that are left out. */
  more: number
}

interface MessageItem {
  change: AlertChange
  /** A line with the number of times. */
  text: string
  /** ISO 8601. */
  since: string
  count: number
  /** The dashboard's page about it; null where `admin.url` is not set. */
  link: string | null
  command: string
}

/** Items of one message. */
const MAX_ITEMS = 10

/** `base`: address of the dashboard; null where nothing tells. */
export function writeMessage(
  rule: AlertRule,
  items: readonly AlertItem[],
  { base, now }: { base: string | null; now: number },
): AlertMessage {
  const shown = items.slice(0, MAX_ITEMS).map((item) => writeItem(rule, item, base))
  const [first] = shown
  const rest = items.length - 1
  const told = first ? `${first.change}: ${first.text}` : rule.name
  const summary = rest > 0 ? `${told}, and ${rest} more` : told
  const words = items.map(({ change, topic }) => `${change} ${topic.id} ${topic.count}`)
  return {
    id: deriveId('alr', rule.name, ...words),
    at: now,
    rule: rule.name,
    when: rule.when,
    summary,
    items: shown,
    more: items.length - shown.length,
  }
}

function writeItem({ when }: AlertRule, { change, topic }: AlertItem, base: string | null): MessageItem {
  const { title, count, since, page, command } = topic
  const times = COUNTED.has(when) && count > 1 ? ` (${count})` : ''
  return {
    change,
    text: `${title}${times}`,
    since: isoTime(since),
    count,
    link: base === null ? null : `${base}${page}`,
    command: `upshot ${command}`,
  }
}

/** Kinds whose count is a number of things, and worth saying. */
const COUNTED: ReadonlySet<AlertRule['when']> = new Set([
  'run.failed',
  'run.waits',
  'tick.missed',
  'event.missing',
  'endpoint.suspect',
])

export function writeText({ items, more }: Pick<AlertMessage, 'items' | 'more'>): string {
  const lines = items.flatMap(({ change, text, since, link, command }) => [
    `${change}: ${text}`,
    `  since ${since.replace('T', ' ').slice(0, 16)} UTC · ${command}`,
    ...(link === null ? [] : [`  ${link}`]),
  ])
  return [...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('\n')
}
