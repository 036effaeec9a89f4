import { expect, test } from 'vitest'
import { jsonLines } from '../../../src/notices/log/json-lines.ts'
import { type LogOptions, logNotices } from '../../../src/notices/log/log-notices.ts'
import { createNoticeBus } from '../../../src/notices/notice-bus.ts'
import { collectLog } from '../../support/collect-log.ts'
import { KINDS, linesOf, NOTICES } from '../support/notices.ts'

const all = KINDS.map((kind) => NOTICES[kind])

const levelsAt = (level: LogOptions['level']) =>
  new Set(linesOf(all, { level }).map((line) => JSON.parse(line).level as string))

test('the level lets through lines at or above it', () => {
  expect(levelsAt('debug')).toEqual(new Set(['debug', 'info', 'warn', 'error']))
  expect(levelsAt('warn')).toEqual(new Set(['warn', 'error']))
  expect(levelsAt('error')).toEqual(new Set(['error']))
  expect(levelsAt('silent')).toEqual(new Set())
})

test('the level applies to pretty lines too', () => {
  const errors = linesOf(all, { level: 'error' })
  expect(linesOf(all, { level: 'error', pretty: true })).toHaveLength(errors.length)
})

test('the log writes nothing after it has ended', async () => {
  const bus = createNoticeBus()
  const lines: string[] = []
  await logNotices(bus, { level: 'debug', lines: jsonLines(), destination: collectLog(lines) }).end()
  bus.publish(NOTICES['app.stopped'])
  expect(lines).toEqual([])
})

test('a line of JSON keeps a foreign text as it is, and steers no terminal with it', () => {
  const message = 'a\u009B31mb\u001B]0;x\u0007\u202Ec\u2028d é😀'
  const [line = ''] = linesOf([{ ...NOTICES['run.log'], message }])
  expect(line.trimEnd()).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u)
  expect(JSON.parse(line).message).toBe(message)
})
