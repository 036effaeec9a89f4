import { EventEmitter } from 'node:events'
import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { LiveFeed, type Stream } from '../../../src/admin/live/live-feed.ts'
import type { Notice } from '../../../src/core/notices.ts'
import { ManualClock } from '../../../src/core/time.ts'
import { FILE_TOKEN, startConsole } from '../support/start-console.ts'

/** A socket that counts what is written to it, and may be full. */
class TestStream extends EventEmitter {
  writableNeedDrain = false
  writableLength = 0
  text = ''
  isEnded = false
  write(text: string): boolean {
    this.text += text
    return true
  }
  end(): this {
    this.isEnded = true
    return this
  }
  get messages(): { event: string; id: string | undefined; data: Record<string, unknown> }[] {
    return this.text
      .split('\n\n')
      .filter((part) => part.includes('data: '))
      .map((part) => ({
        event: /event: (.*)/.exec(part)?.[1] ?? '',
        id: /id: (.*)/.exec(part)?.[1],
        data: JSON.parse(/data: (.*)/.exec(part)?.[1] ?? 'null'),
      }))
  }
}

function openFeed() {
  const clock = new ManualClock()
  let hear: (notice: Notice) => void = () => {}
  let change = () => {}
  const feed = new LiveFeed({
    clock,
    store: {
      watch(_clock, onChange) {
        change = onChange
        return { stop: () => {} }
      },
    },
    listen(listener) {
      hear = listener
      return () => {}
    },
  })
  const join = (lastId?: string, recheck = async () => {}) => {
    const stream = new TestStream()
    feed.open(stream as unknown as Stream, { hello: { role: 'viewer', version: '0.1.0' }, lastId, recheck })
    return stream
  }
  const tell = (run: string) => hear({ kind: 'run.released', run, workflow: 'w', root: null } as Notice)
  return { clock, feed, join, tell, change: () => change() }
}

test('a change is told at once, and those of the next half second as one message', () => {
  const { clock, join, tell } = openFeed()
  const stream = join()
  tell('run_1')
  tell('run_2')
  tell('run_3')
  expect(stream.messages.slice(1).map(({ data }) => data)).toEqual([{ rev: 1, topics: ['runs'], runs: ['run_1'] }])
  clock.advance(500)
  expect(stream.messages.at(-1)?.data).toEqual({ rev: 3, topics: ['runs'], runs: ['run_2', 'run_3'] })
})

test('a client that does not read is owed topics, and is written to once it reads again', () => {
  const { clock, join, tell } = openFeed()
  const stream = join()
  stream.writableNeedDrain = true
  const written = stream.text.length
  for (let run = 0; run < 100_000; run++) tell(`run_${run}`)
  clock.advance('1m')
  expect(stream.text.length).toBe(written)
  stream.writableNeedDrain = false
  clock.advance('1s')
  expect(stream.messages.at(-1)?.data).toEqual({ rev: 100_000, topics: ['runs'] })
})

test('two hundred clients that do not read hold less than 5 MB in the queues of their sockets', () => {
  const sockets: Writable[] = []
  const feeds = Array.from({ length: 4 }, openFeed)
  for (const { feed } of feeds) {
    for (let page = 0; page < 50; page++) {
      const socket = new Writable({ write: () => {} })
      sockets.push(socket)
      const hello = { role: 'viewer', version: '0.1.0' }
      feed.open(socket as unknown as Stream, { hello, lastId: undefined, recheck: async () => {} })
    }
  }
  for (const { clock, tell } of feeds) {
    for (let change = 0; change < 2_000; change++) {
      for (let run = 0; run < 10; run++) tell(`run_${change}_${run}`)
      clock.advance('1s')
    }
  }
  const queued = sockets.map(({ writableLength }) => writableLength)
  expect(Math.min(...queued)).toBeGreaterThan(10_000)
  expect(queued.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(5_000_000)
})

test('a client that comes back with another id is told that everything may have changed', () => {
  const { join, tell } = openFeed()
  const first = join()
  tell('run_1')
  const id = first.messages.at(-1)?.id
  expect(join(id).messages.map(({ event }) => event)).toEqual(['hello'])
  tell('run_2')
  expect(join(id).messages.at(-1)?.data.topics).toContain('any')
  expect(join('of-another-process.7').messages.at(-1)?.data.topics).toContain('any')
})

test('a write of another process is told as any, and the feed ends with its login and with the process', async () => {
  const { clock, feed, join, change } = openFeed()
  const expired = join(undefined, () => Promise.reject(new Error('over')))
  const stream = join()
  change()
  expect(stream.messages.at(-1)?.data.topics).toEqual(['any'])
  clock.advance('15s')
  await Promise.resolve()
  await Promise.resolve()
  expect(expired.messages.at(-1)).toMatchObject({ event: 'bye', data: { reason: 'the login is over' } })
  expect(stream.isEnded).toBe(false)
  feed.stop('the process stops')
  expect(stream.messages.at(-1)).toMatchObject({ event: 'bye', data: { reason: 'the process stops' } })
})

test('the fifty-first page is refused', () => {
  const { join } = openFeed()
  for (let page = 0; page < 50; page++) join()
  expect(() => join()).toThrow(/50 open pages/)
})

test('a write through another connection reaches a page within a second', async () => {
  const { api, store, clock, makeToken } = await startConsole()
  const response = await fetch(`${api}/live`, { headers: { authorization: `Bearer ${FILE_TOKEN}` } })
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader()
  expect((await reader.read()).value).toContain('event: hello')
  await makeToken('viewer')
  const told = reader.read()
  // The watch and the feed both wait for moments of this clock.
  for (let step = 0; step < 40; step++) {
    clock.advance(50)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect((await told).value).toContain('"any"')
  await reader.cancel()
  await store.listTokens()
})
