import { openSync } from 'node:fs'
import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { jsonLines } from '../../../src/notices/log/json-lines.ts'
import { logNotices } from '../../../src/notices/log/log-notices.ts'
import { boundStream, openLogStream } from '../../../src/notices/log/log-stream.ts'
import { createNoticeBus } from '../../../src/notices/notice-bus.ts'
import { NOTICES } from '../support/notices.ts'

/** A reader that takes nothing until `goOn`. */
function stall() {
  const taken: string[] = []
  let goOn = () => {}
  const stream = new Writable({
    highWaterMark: 1,
    write(chunk, _encoding, done) {
      taken.push(String(chunk))
      goOn = done
    },
  })
  return {
    stream,
    taken,
    async drain() {
      await new Promise(setImmediate)
      while (stream.writableLength > 0) {
        goOn()
        await new Promise(setImmediate)
      }
    },
  }
}

test('lines beyond the bound are dropped and counted while the reader stalls, and told once it goes on', async () => {
  const { stream, taken, drain } = stall()
  const bus = createNoticeBus()
  const log = logNotices(bus, { level: 'debug', lines: jsonLines(), destination: boundStream(stream, 10_000) })
  for (let n = 0; n < 1_000; n++) bus.publish(NOTICES['run.completed'])
  expect(stream.writableLength).toBeLessThanOrEqual(10_000)
  await drain()
  const lines = () => taken.join('').trimEnd().split('\n')
  const kept = lines().length
  bus.publish(NOTICES['app.stopping'])
  await drain()
  expect(
    lines()
      .slice(kept)
      .map((line) => JSON.parse(line)),
  ).toMatchObject([
    { message: 'log lines dropped: the reader of the log is too slow', count: 1_000 - kept },
    { message: 'stopping' },
  ])
  await log.end()
})

test('the lines of a turn are one write, and one that may be the last of the process waits for no other', async () => {
  const { stream, taken, drain } = stall()
  const log = boundStream(stream)
  for (const line of ['one\n', 'two\n']) log.write(line)
  expect(taken).toEqual([])
  await drain()
  expect(taken).toEqual(['one\ntwo\n'])
  log.write('three\n')
  log.write('four\n', true)
  expect(taken.slice(1)).toEqual(['three\nfour\n'])
})

test('the end of the log waits for its reader, but not longer than asked', async () => {
  const { stream } = stall()
  const log = boundStream(stream)
  log.write('a line')
  await log.flush(1)
  expect(stream.writableLength).toBeGreaterThan(0)
})

test('a reader that goes away ends nothing: its lines count as dropped', async () => {
  const { stream } = stall()
  const log = boundStream(stream)
  stream.destroy(new Error('EPIPE'))
  await new Promise(setImmediate)
  expect(log.write('a line')).toBe(false)
  await log.flush(1)
})

test.runIf(process.platform === 'linux')(
  'a disk without room drops lines beyond the bound, and ends nothing',
  async () => {
    const log = openLogStream(openSync('/dev/full', 'w'))
    expect(log.write('x'.repeat(4_000_000), true)).toBe(true)
    expect(log.write('x'.repeat(1_000_000), true)).toBe(false)
  },
)
