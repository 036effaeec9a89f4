import { ALERT_KINDS, type AlertRule } from './alert-rule.ts'

/** Something that a rule found: a kind of failure, a workflow, an endpoint, an approval … */
interface AlertTopic {
  /** Names it within its rule. */
  id: string
  /** A line for a person, without the number of times. */
  title: string
  /** Path of the dashboard's page about it. */
  page: string
  /** The command that shows it, without `upshot`. */
  command: string
}

export interface Sighting extends AlertTopic {
  /** When it happened last, or was found, in epoch milliseconds. */
  at: number
  /** Of a state, how many there are; otherwise how many are new. */
  count: number
}

export interface Look {
  sightings: readonly Sighting[]
  /** How far the look read, in words of its kind; null where it always reads all. */
  position: string | null
  /** Topics that persons have settled: they are over, however lately they were seen. */
  settled?: readonly string[]
}

/** A topic in the memory of a rule. Times are epoch milliseconds. */
export interface OpenTopic extends AlertTopic {
  /** When it was first seen, and last. */
  since: number
  seenAt: number
  /** Of a state, how many there are; otherwise all since it opened. */
  count: number
  /** The count of the last message; null: none was sent. */
  sentCount: number | null
  lastSentAt: number | null
  /** When a state was over, or a person settled it; null while it holds, and for other kinds. */
  endedAt: number | null
  /** A process that sends has until this moment; null: none sends. */
  sendingUntil: number | null
}

/** A topic that was told and is over. Times are epoch milliseconds. */
export interface PastTopic extends AlertTopic {
  since: number
  endedAt: number
  /** Of a state, how many there were last; otherwise all of them. */
  count: number
  /** The moment of its last message. */
  lastSentAt: number
}

/** How the last message to a channel went. */
export interface ChannelState {
  channel: string
  /** Epoch milliseconds. */
  at: number
  /** Null where the channel took it. */
  error: string | null
}

/** The memory of one rule, which all processes share. */
export interface AlertBook {
  topics: readonly OpenTopic[]
  /** Newest first, at most 50. */
  past: readonly PastTopic[]
  channels: readonly ChannelState[]
  /** Moments of the latest messages, oldest first. */
  sentAt: readonly number[]
  /** How far the looks have read; null at first. */
  position: string | null
}

export const EMPTY_BOOK: AlertBook = { topics: [], past: [], channels: [], sentAt: [], position: null }

/** Topics of a rule that are told apart; further ones share one. */
const MAX_TOPICS = 200
const OTHERS = 'others'

/** The book after a look. */
export function takeIn(rule: AlertRule, book: AlertBook, look: Look, now: number): AlertBook {
  const isState = ALERT_KINDS[rule.when] === 'state'
  const topics = new Map(book.topics.map((topic) => [topic.id, topic]))
  const present = new Set<string>()
  const settled = new Set(look.settled)
  for (const sighting of look.sightings) {
    const shown = topics.has(sighting.id) || topics.size < MAX_TOPICS ? sighting : { ...sighting, ...OTHER_TOPIC }
    const known = topics.get(shown.id)
    const count = known && (!isState || present.has(shown.id)) ? known.count + shown.count : shown.count
    present.add(shown.id)
    topics.set(shown.id, { ...(known ?? openTopic(shown)), seenAt: shown.at, count, endedAt: null })
  }
  const after = [...topics.values()].map((topic) => {
    const isEnded = !present.has(topic.id) && (isState || settled.has(topic.id))
    return { ...topic, endedAt: isEnded ? (topic.endedAt ?? now) : null }
  })
  return { ...book, topics: after.filter((topic) => !isForgotten(rule, topic, now)), position: look.position }
}

const OTHER_TOPIC: AlertTopic = { id: OTHERS, title: 'others', page: '/', command: 'status' }

function openTopic({ id, title, page, command, at }: Sighting): OpenTopic {
  const unsaid = { sentCount: null, lastSentAt: null, endedAt: null, sendingUntil: null }
  return { id, title, page, command, since: at, seenAt: at, count: 0, ...unsaid }
}

/** Over before it was told. A message that no channel took yet is kept, unless its state ended. */
function isForgotten(rule: AlertRule, topic: OpenTopic, now: number): boolean {
  const isUnsaid = topic.sentCount === null && (topic.sendingUntil === null || topic.endedAt !== null)
  return isUnsaid && isOver(rule, topic, now) && !isBeingSent(topic, now)
}

/** A process that has not said by then how its sending went has died. */
export const SENDING_MS = 60_000

/** Whether a process sends a message about it. A moment far ahead is of a clock set back since. */
export function isBeingSent({ sendingUntil }: OpenTopic, now: number): boolean {
  return sendingUntil !== null && sendingUntil > now && sendingUntil <= now + SENDING_MS
}

/** Whether a topic is over: it ended, was settled, or has not happened for a while. */
export function isOver(rule: AlertRule, topic: OpenTopic, now: number): boolean {
  switch (ALERT_KINDS[rule.when]) {
    case 'state':
      return topic.endedAt !== null
    case 'count':
      return topic.endedAt !== null || Math.abs(now - topic.seenAt) >= rule.everyMs
    case 'once':
      return false
  }
}
