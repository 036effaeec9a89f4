import { expect, test } from 'vitest'
import { LiveFeed } from '../../../src/admin/resources/live-handlers.ts'
import { ManualClock } from '../../../src/core/time.ts'
import { FILE_TOKEN, startConsole } from '../support/start-console.ts'

/** A feed on a clock of its own, over a store whose changes are made by hand. */
function openFeed() {
  const clock = new ManualClock()
  let change: (() => void) | null = null
  const feed = new LiveFeed({
    clock,
    store: {
      watch(_clock, onChange) {
        change = onChange
        return {
          stop() {
            change = null
          },
        }
      },
    },
  })
  const join = (mayGoOn = async () => true) => {
    const left = new AbortController()
    const messages = feed.open(mayGoOn, left.signal)[Symbol.asyncIterator]()
    return { left, read: async () => (await messages.next()).value as { changed: boolean } | undefined }
  }
  return { clock, join, change: () => change?.(), isWatching: () => change !== null }
}

/** Lets the feed come as far as it can without its clock. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('a page is told to ask at first, then of the changes of half a second at once, however many', async () => {
  const { clock, join, change } = openFeed()
  const { read } = join()
  expect(await read()).toEqual({ changed: true })
  const next = read()
  for (let each = 0; each < 100_000; each++) change()
  let told: unknown = null
  void next.then((message) => {
    told = message
  })
  clock.advance(499)
  await settle()
  expect(told).toBeNull()
  clock.advance(1)
  expect(await next).toEqual({ changed: true })
})

test('a silent feed says so every 15 seconds, and a change after it is told at once', async () => {
  const { clock, join, change } = openFeed()
  const { read } = join()
  await read()
  const silent = read()
  clock.advance(500)
  await settle()
  clock.advance(14_500)
  expect(await silent).toEqual({ changed: false })
  const next = read()
  clock.advance(500)
  await settle()
  change()
  expect(await next).toEqual({ changed: true })
})

test('a page that did not read is told of a change once it reads again', async () => {
  const { clock, join, change } = openFeed()
  const { read } = join()
  await read()
  change()
  clock.advance('1h')
  const next = read()
  await settle()
  clock.advance(500)
  expect(await next).toEqual({ changed: true })
})

test('the feed ends with the login, and nothing is watched once no page listens', async () => {
  const { clock, join, isWatching } = openFeed()
  const expired = join(async () => false)
  const other = join()
  await expired.read()
  const end = expired.read()
  clock.advance(500)
  await settle()
  clock.advance(14_500)
  expect(await end).toBeUndefined()
  expect(isWatching()).toBe(true)
  other.left.abort()
  expect(isWatching()).toBe(false)
  expect(await other.read()).toBeUndefined()
})

test('the fifty-first page is refused, and there is room again once one has left', () => {
  const { join } = openFeed()
  const pages = Array.from({ length: 50 }, () => join())
  expect(() => join()).toThrow(/50 open pages/)
  pages[0]?.left.abort()
  join()
})

test('a write through another connection reaches a page within a second', async () => {
  const { api, store, clock, makeToken } = await startConsole()
  const response = await fetch(`${api}/live`, { headers: { authorization: `Bearer ${FILE_TOKEN}` } })
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader()
  expect((await reader.read()).value).toBe('data: {"changed":true}\n\n')
  await makeToken('viewer')
  const told = reader.read()
  // The watch and the feed both wait for moments of this clock.
  for (let step = 0; step < 40; step++) {
    clock.advance(50)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect((await told).value).toBe('data: {"changed":true}\n\n')
  await reader.cancel()
  await store.listTokens()
})
