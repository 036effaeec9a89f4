import { expect, test } from 'vitest'
import type { Caller } from '../../../src/admin/access/caller.ts'
import { CallerLimits } from '../../../src/admin/access/caller-limits.ts'

const anna = { kind: 'session', id: 'ses_1' } as Caller
const ben = { kind: 'session', id: 'ses_2' } as Caller

/** Searches that end when `end` is called, in the order of their beginning. */
function openSearches() {
  const limits = new CallerLimits()
  const begun: { name: string; end: () => void }[] = []
  const search = (caller: Caller, name: string) =>
    limits.search(caller, () => new Promise<string>((resolve) => begun.push({ name, end: () => resolve(name) })))
  return { search, begun, names: () => begun.map(({ name }) => name) }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

test('the third search of a caller waits for the end of another one, and others do not wait for it', async () => {
  const { search, begun, names } = openSearches()
  const answers = ['a', 'b', 'c'].map((name) => search(anna, name))
  void search(ben, 'd')
  await settle()
  expect(names()).toEqual(['a', 'b', 'd'])
  begun[0]?.end()
  expect(await answers[0]).toBe('a')
  await settle()
  expect(names()).toEqual(['a', 'b', 'd', 'c'])
  for (const { end } of begun) end()
  expect(await Promise.all(answers)).toEqual(['a', 'b', 'c'])
})

test('a search beyond twenty that wait is refused, and one that fails gives its place on', async () => {
  const { search, begun } = openSearches()
  const answers = Array.from({ length: 22 }, (_, index) => search(anna, String(index)))
  await expect(search(anna, 'more')).rejects.toMatchObject({ code: 'too_many_requests' })
  for (let ended = 0; ended < answers.length; ended++) {
    await settle()
    begun[ended]?.end()
  }
  expect(await Promise.all(answers)).toHaveLength(22)
  const limits = new CallerLimits()
  for (let tries = 0; tries < 5; tries++) {
    await expect(limits.search(anna, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  }
})
