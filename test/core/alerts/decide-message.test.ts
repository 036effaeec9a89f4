import { expect, test } from 'vitest'
import { type AlertBook, EMPTY_BOOK, type Sighting, takeIn } from '../../../src/core/alerts/alert-book.ts'
import type { AlertRule } from '../../../src/core/alerts/alert-rule.ts'
import { type AlertItem, noteSending, planMessage } from '../../../src/core/alerts/decide-message.ts'

const MINUTE = 60_000
const RULE: AlertRule = {
  name: 'r',
  when: 'run.failed',
  workflow: null,
  over: 0,
  forMs: 0,
  everyMs: 15 * MINUTE,
  to: ['ops'],
}
const STATE: AlertRule = { ...RULE, when: 'run.waits' }

const see = (id: string, at: number, count = 1): Sighting => {
  return { id, title: id, page: '/', command: 'runs list', at, count }
}

/** Previews looks of one rule; `look` returns what was sent, as `change id count`. */
function preview(rule: AlertRule) {
  let book: AlertBook = EMPTY_BOOK
  return {
    look(now: number, sightings: Sighting[] = [], isSent = true): string[] {
      book = takeIn(rule, book, { sightings, position: null }, now)
      const message = planMessage(rule, book, now)
      if (message === null) return []
      const results = [{ channel: 'ops', error: isSent ? null : 'away' }]
      book = noteSending(rule, message.book, { items: message.items, results }, now)
      return message.items.map(describeItem)
    },
    topics: () => book.topics.map(({ id }) => id),
    book: () => book,
  }
}

const describeItem = ({ change, topic }: AlertItem) => `${change} ${topic.id} ${topic.count}`

test('a failure is told at once, further ones in a digest, and the end when none came for a while', () => {
  const { look, topics } = preview(RULE)
  expect(look(0, [see('a', 0)])).toEqual(['new a 1'])
  expect(look(MINUTE, [see('a', MINUTE, 3)])).toEqual([])
  expect(look(15 * MINUTE)).toEqual(['more a 4'])
  expect(look(16 * MINUTE)).toEqual(['over a 4'])
  expect(topics()).toEqual([])
  expect(look(60 * MINUTE)).toEqual([])
})

test('what is over stays in the book with its end, and so does the state of each channel', () => {
  const { look, book } = preview(STATE)
  look(0, [see('a', 0)])
  look(MINUTE)
  look(2 * MINUTE, [see('b', 2 * MINUTE)], false)
  expect(book().past).toMatchObject([{ id: 'a', since: 0, endedAt: MINUTE, lastSentAt: MINUTE }])
  expect(book().channels).toEqual([{ channel: 'ops', at: 2 * MINUTE, error: 'away' }])
  for (let turn = 0; turn < 120; turn++) look((20 + turn * 20) * MINUTE, turn % 2 ? [] : [see('c', turn)])
  expect(book().past).toHaveLength(50)
})

test('a digest with nothing new is not sent', () => {
  const { look } = preview(RULE)
  look(0, [see('a', 0)])
  look(10 * MINUTE, [see('a', 10 * MINUTE)])
  expect(look(20 * MINUTE)).toEqual(['more a 2'])
  expect(look(24 * MINUTE)).toEqual([])
})

test('kinds of failures are told apart, and those of one look share a message', () => {
  const { look } = preview(RULE)
  expect(look(0, [see('a', 0), see('b', 0), see('a', 0)])).toEqual(['new a 2', 'new b 1'])
})

test('a failure that stays below the bound is never told, and forgotten', () => {
  const { look, topics } = preview({ ...RULE, over: 2 })
  expect(look(0, [see('a', 0, 2)])).toEqual([])
  expect(look(15 * MINUTE)).toEqual([])
  expect(topics()).toEqual([])
  expect(look(20 * MINUTE, [see('a', 20 * MINUTE, 2)])).toEqual([])
  expect(look(21 * MINUTE, [see('a', 21 * MINUTE)])).toEqual(['new a 3'])
})

test('a state has to hold, is told once, and then once that it is over', () => {
  const { look } = preview({ ...STATE, forMs: 5 * MINUTE })
  expect(look(0, [see('a', 0, 2)])).toEqual([])
  expect(look(5 * MINUTE, [see('a', 0, 2)])).toEqual(['new a 2'])
  expect(look(30 * MINUTE, [see('a', 0, 2)])).toEqual([])
  expect(look(31 * MINUTE)).toEqual(['over a 2'])
})

test('a state that ends before it was told is never told', () => {
  const { look } = preview({ ...STATE, forMs: 5 * MINUTE })
  look(0, [see('a', 0)])
  expect(look(MINUTE)).toEqual([])
  expect(look(5 * MINUTE, [see('a', 5 * MINUTE)])).toEqual([])
})

test('a state that grows is told again after a while, and one that lasts once a day', () => {
  const { look } = preview(STATE)
  expect(look(0, [see('a', 0)])).toEqual(['new a 1'])
  expect(look(MINUTE, [see('a', 0, 2)])).toEqual([])
  expect(look(15 * MINUTE, [see('a', 0, 2)])).toEqual(['more a 2'])
  expect(look(1_440 * MINUTE, [see('a', 0, 2)])).toEqual([])
  expect(look(1_455 * MINUTE, [see('a', 0, 2)])).toEqual(['more a 2'])
})

test('an age that grows by itself is told once, then once a day, and at once when it is ten times as long', () => {
  const { look } = preview({ ...STATE, when: 'queue.age', over: MINUTE })
  expect(look(2 * MINUTE, [see('queue', 0, 2 * MINUTE)])).toEqual(['new queue 120000'])
  expect(look(10 * MINUTE, [see('queue', 0, 10 * MINUTE)])).toEqual([])
  expect(look(18 * MINUTE, [see('queue', 0, 18 * MINUTE)])).toEqual([])
  expect(look(20 * MINUTE, [see('queue', 0, 20 * MINUTE)])).toEqual(['more queue 1200000'])
  expect(look(199 * MINUTE, [see('queue', 0, 199 * MINUTE)])).toEqual([])
  expect(look(200 * MINUTE, [see('queue', 0, 200 * MINUTE)])).toEqual(['more queue 12000000'])
  expect(look(1_639 * MINUTE, [see('queue', 0, 1_639 * MINUTE)])).toEqual([])
  expect(look(1_640 * MINUTE, [see('queue', 0, 1_640 * MINUTE)])).toEqual(['more queue 98400000'])
  expect(look(1_641 * MINUTE)).toEqual(['over queue 98400000'])
})

test('a disk that fills up is told again when a tenth of its room is left, and else once a day', () => {
  const { look } = preview({ ...STATE, when: 'disk.low', over: 0.8 })
  expect(look(0, [see('disk', 0, 0.9)])).toEqual(['new disk 0.9'])
  expect(look(60 * MINUTE, [see('disk', 0, 0.98)])).toEqual([])
  expect(look(61 * MINUTE, [see('disk', 0, 0.99)])).toEqual(['more disk 0.99'])
  expect(look(90 * MINUTE, [see('disk', 0, 1)])).toEqual(['more disk 1'])
  expect(look(120 * MINUTE, [see('disk', 0, 1)])).toEqual([])
  expect(look(1_530 * MINUTE, [see('disk', 0, 1)])).toEqual(['more disk 1'])
})

test('an end of an operation is told once, and never that it is over', () => {
  const { look, topics } = preview({ ...RULE, when: 'operation.done' })
  expect(look(0, [see('opr_1', 0)])).toEqual(['new opr_1 1'])
  expect(topics()).toEqual([])
  expect(look(1_440 * MINUTE)).toEqual([])
})

test('a message that no channel took is tried again', () => {
  const { look } = preview(RULE)
  expect(look(0, [see('a', 0)], false)).toEqual(['new a 1'])
  expect(look(MINUTE - 1)).toEqual([])
  expect(look(MINUTE)).toEqual(['new a 1'])
})

test('a message that no channel took is kept, even if the failures end meanwhile', () => {
  const { look } = preview(RULE)
  for (let at = 0; at < 20 * MINUTE; at += MINUTE) look(at, at === 0 ? [see('a', 0)] : [], false)
  expect(look(40 * MINUTE)).toEqual(['new a 1'])
})

test('while a process sends, no other one does, until it had a minute', () => {
  const book = takeIn(RULE, EMPTY_BOOK, { sightings: [see('a', 0)], position: null }, 0)
  const taken = planMessage(RULE, book, 0)
  if (taken === null) throw new Error('a message is due')
  expect(planMessage(RULE, taken.book, MINUTE - 1)).toBe(null)
  expect(planMessage(RULE, taken.book, MINUTE)?.items.map(describeItem)).toEqual(['new a 1'])
})

test('a state that ends while it is told for the first time is told to be over', () => {
  const seen = takeIn(STATE, EMPTY_BOOK, { sightings: [see('a', 0)], position: null }, 0)
  const message = planMessage(STATE, seen, 0)
  if (message === null) throw new Error('a message is due')
  const ended = takeIn(STATE, message.book, { sightings: [], position: null }, 10_000)
  const results = [{ channel: 'ops', error: null }]
  const noted = noteSending(STATE, ended, { items: message.items, results }, 12_000)
  expect(planMessage(STATE, noted, 20_000)?.items.map(describeItem)).toEqual(['over a 1'])
  // Where nobody says how the sending went, it is forgotten.
  expect(takeIn(STATE, ended, { sightings: [], position: null }, 2 * MINUTE).topics).toEqual([])
})

test('a failure that comes while the end is told opens the topic again', () => {
  const seen = takeIn(RULE, EMPTY_BOOK, { sightings: [see('a', 0)], position: null }, 0)
  const told = { ...seen, topics: seen.topics.map((topic) => ({ ...topic, sentCount: 1, lastSentAt: 0 })) }
  const message = planMessage(RULE, told, 20 * MINUTE)
  if (message === null) throw new Error('a message is due')
  const again = takeIn(RULE, message.book, { sightings: [see('a', 20 * MINUTE)], position: null }, 20 * MINUTE)
  const after = noteSending(
    RULE,
    again,
    { items: message.items, results: [{ channel: 'ops', error: null }] },
    20 * MINUTE + 5,
  )
  expect(after.topics).toMatchObject([{ id: 'a', count: 2, sentCount: 1 }])
})

test('a rule sends at most five messages in its time, and the rest in one after it', () => {
  const { look } = preview(RULE)
  const sent = Array.from({ length: 12 }, (_, index) => look(index * 1_000, [see(`kind-${index}`, index * 1_000)]))
  expect(sent.filter((items) => items.length > 0)).toHaveLength(5)
  expect(look(15 * MINUTE + 1)).toHaveLength(7 + 1)
})

test('topics beyond two hundred share one', () => {
  const { look, topics } = preview(RULE)
  look(
    0,
    Array.from({ length: 500 }, (_, index) => see(`kind-${index}`, 0)),
  )
  expect(topics()).toHaveLength(201)
  expect(topics().at(-1)).toBe('others')
})

test('a clock that was a year ahead silences nothing once it is set back', () => {
  const year = 365 * 1_440 * MINUTE
  const counts = preview(RULE)
  for (let index = 0; index < 5; index++) counts.look(year + index, [see(`kind-${index}`, year + index)], index < 4)
  const told = counts.look(0, [see('a', 0)])
  expect(told).toContain('new a 1')
  expect(told).toContain('new kind-4 1')
  // Nothing happens any more, so those that were told are over.
  expect(told).toContain('over kind-0 1')

  const states = preview({ ...STATE, forMs: 5 * MINUTE })
  states.look(year, [see('told', year)])
  states.look(year + 5 * MINUTE, [see('told', year)])
  states.look(year + 6 * MINUTE, [see('told', year), see('untold', year + 6 * MINUTE)])
  expect(states.look(0, [see('told', 0, 2), see('untold', 0)])).toEqual(['more told 2', 'new untold 1'])
})
