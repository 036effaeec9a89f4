import { expect, it } from 'vitest'
import { deriveIdempotencyKey, deriveRunId, firstId, newId, randomWord } from '../../src/core/ids.ts'

it('an id has a prefix and 23 digits that nobody confuses', () => {
  expect(newId('run', Date.UTC(2026, 0, 1))).toMatch(/^run_[0-9a-hjkmnp-tv-z]{23}$/)
})

it('the id of a run names its cell, and so do the ids of the runs that it starts', () => {
  const run = newId('run', Date.UTC(2026, 0, 1))
  expect(run.slice(17, 19)).toBe('00')
  const ofAnotherCell = `${run.slice(0, 17)}c7${run.slice(19)}`
  const started = deriveRunId(ofAnotherCell, 'child', 1)
  expect(started).toHaveLength(run.length)
  expect(started.slice(17, 19)).toBe('c7')
  expect(started.slice(0, 13)).toBe(run.slice(0, 13))
  expect(deriveRunId(ofAnotherCell, 'child', 1)).toBe(started)
  expect(deriveRunId(ofAnotherCell, 'child', 2)).not.toBe(started)
})

it('ids of one millisecond keep their order when other milliseconds come between', () => {
  const ids = Array.from({ length: 100 }, () => [newId('run', 7), newId('run', 8)] as const)
  const ofSeven = ids.map(([id]) => id)
  expect(ofSeven.toSorted()).toEqual(ofSeven)
})

it('firstId sorts between the ids before a moment and those from it on', () => {
  const now = Date.UTC(2026, 0, 1)
  const [before, at, after] = [newId('dlv', now - 1), newId('dlv', now), newId('dlv', now + 1)]
  const sorted = [before, firstId('dlv', now), at, firstId('dlv', now + 1), after]
  expect(sorted.toSorted()).toEqual(sorted)
  expect(firstId('dlv', -5)).toBe(firstId('dlv', 0))
})

it('random words have 32 digits and differ', () => {
  const words = Array.from({ length: 1_000 }, randomWord)
  expect(new Set(words).size).toBe(words.length)
  for (const word of words) expect(word).toMatch(/^[0-9a-hjkmnp-tv-z]{32}$/)
})

it('an idempotency key is a short header value, whatever the name of the step is', () => {
  const run = newId('run', Date.now())
  expect(deriveIdempotencyKey(run, 'copy[fil_1]#2')).toBe(`${run}/copy[fil_1]#2`)
  const odd = ['überweisen', '送信', 'a '.repeat(100), 'x'.repeat(65), 'copy[ä]', 'copy\n', 'copy ', 'copy']
  const keys = odd.map((key) => deriveIdempotencyKey(run, key))
  expect(new Set(keys).size).toBe(odd.length)
  for (const key of keys) {
    expect(key.length).toBeLessThanOrEqual(92)
    expect(new Headers({ 'idempotency-key': key }).get('idempotency-key')).toBe(key)
  }
  expect(deriveIdempotencyKey('run_1', '送信')).toBe('run_1/#61efbeqskx18rxfn3vvsjnqp8y')
})
