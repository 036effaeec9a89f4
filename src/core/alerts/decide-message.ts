import {
  type AlertBook,
  type ChannelState,
  isBeingSent,
  isOver,
  type OpenTopic,
  type PastTopic,
  SENDING_MS,
} from './alert-book.ts'
import { ALERT_KINDS, type AlertRule, MEASURED_ALERTS } from './alert-rule.ts'

/** The news of a topic: it is new, there are more, or it is over. */
export type AlertChange = 'new' | 'more' | 'over'

export interface AlertItem {
  change: AlertChange
  topic: OpenTopic
}

/** A message to be sent by the process that saved the book. */
interface PlannedMessage {
  items: readonly AlertItem[]
  /** The book in which this process has taken the sending on. */
  book: AlertBook
}

/** Messages of a rule within its `everyMs`; what comes beyond joins the next one. */
const MAX_MESSAGES = 5
/** A state that goes on is told again this often. */
const REMIND_MS = 86_400_000
/** Worse by an order of magnitude. */
const TENFOLD = 10

/**
 * The message that is due now; null for none. Moments far ahead silence nothing: their clock was
 * set back since.
 */
export function planMessage(rule: AlertRule, book: AlertBook, now: number): PlannedMessage | null {
  const recent = book.sentAt.filter((at) => Math.abs(now - at) < rule.everyMs)
  if (recent.length >= MAX_MESSAGES) return null
  const items = book.topics.flatMap((topic) => {
    const change = findChange(rule, topic, now)
    return change === null ? [] : [{ change, topic }]
  })
  if (items.length === 0) return null
  const taken = new Set(items.map(({ topic }) => topic.id))
  const topics = book.topics.map((topic) =>
    taken.has(topic.id) ? { ...topic, sendingUntil: now + SENDING_MS } : topic,
  )
  return { items, book: { ...book, topics, sentAt: [...recent, now] } }
}

function findChange(rule: AlertRule, topic: OpenTopic, now: number): AlertChange | null {
  const { sentCount, lastSentAt, count, since } = topic
  if (isBeingSent(topic, now)) return null
  if (sentCount === null || lastSentAt === null) {
    const holds = ALERT_KINDS[rule.when] !== 'state' || Math.abs(now - since) >= rule.forMs
    return holds && topic.endedAt === null && count > rule.over ? 'new' : null
  }
  if (isOver(rule, topic, now)) return 'over'
  const quietMs = Math.abs(now - lastSentAt)
  if (quietMs < rule.everyMs) return null
  const isReminder = ALERT_KINDS[rule.when] === 'state' && quietMs >= REMIND_MS
  return isReminder || hasGrown(rule, sentCount, count) ? 'more' : null
}

/** A measure grows by itself: news is ten times the age, or a tenth of the room on the disk. */
function hasGrown({ when }: AlertRule, sentCount: number, count: number): boolean {
  if (!MEASURED_ALERTS.has(when)) return count > sentCount
  const [before, after] = when === 'disk.low' ? [1 - count, 1 - sentCount] : [sentCount, count]
  // Shares of hundredths are no exact numbers.
  return after > before && after - before * TENFOLD > -1e-9
}

/** Topics that are over and kept to be shown. */
const MAX_PAST = 50

/**
 * The book after a message. One that no channel took is tried again with the next one, after
 * `everyMs` at the latest.
 */
export function noteSending(
  rule: AlertRule,
  book: AlertBook,
  { items, results }: { items: readonly AlertItem[]; results: readonly Omit<ChannelState, 'at'>[] },
  now: number,
): AlertBook {
  const isSent = results.some(({ error }) => error === null)
  const sent = new Map(items.map((item) => [item.topic.id, item]))
  const ended: PastTopic[] = []
  const topics = book.topics.flatMap((topic) => {
    const item = sent.get(topic.id)
    if (item === undefined) return [topic]
    if (!isSent) return [{ ...topic, sendingUntil: now + Math.min(rule.everyMs, SENDING_MS) }]
    // A thing that happened while the message was under way opens the topic again.
    const isClosed = ALERT_KINDS[rule.when] === 'once' || (item.change === 'over' && isOver(rule, topic, now))
    if (!isClosed) return [{ ...topic, sentCount: item.topic.count, lastSentAt: now, sendingUntil: null }]
    ended.push(describePast(topic, now))
    return []
  })
  const states = new Map(book.channels.map((state) => [state.channel, state]))
  for (const result of results) states.set(result.channel, { ...result, at: now })
  return { ...book, topics, past: [...ended, ...book.past].slice(0, MAX_PAST), channels: [...states.values()] }
}

function describePast({ id, title, page, command, since, seenAt, endedAt, count }: OpenTopic, now: number): PastTopic {
  return { id, title, page, command, since, endedAt: endedAt ?? seenAt, count, lastSentAt: now }
}
