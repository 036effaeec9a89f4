import { expect, onTestFinished, test, vi } from 'vitest'
import type { NoticeOf } from '../../../src/core/notices.ts'
import { type Clock, ManualClock, systemClock } from '../../../src/core/time.ts'
import { jsonLines } from '../../../src/notices/log/json-lines.ts'
import { logNotices } from '../../../src/notices/log/log-notices.ts'
import { createNoticeBus } from '../../../src/notices/notice-bus.ts'
import { collectLog } from '../../support/collect-log.ts'
import { NOTICES, NOW } from '../support/notices.ts'

function openLog<Time extends Clock>(clock: Time) {
  const lines: string[] = []
  const bus = createNoticeBus()
  const log = logNotices(bus, { level: 'info', lines: jsonLines(clock), destination: collectLog(lines), clock })
  return { bus, clock, log, read: () => lines.splice(0).map((line) => JSON.parse(line)) }
}

const refused = (part: Partial<NoticeOf<'delivery.received'>> = {}): NoticeOf<'delivery.received'> => ({
  ...NOTICES['delivery.received'],
  verdict: 'bad_signature',
  event: null,
  type: null,
  facts: { reason: 'mismatch' },
  ...part,
})

test('a flood of refusals is ten lines, then one line with their number every ten seconds', () => {
  const { bus, clock, read } = openLog(new ManualClock(NOW))
  for (let n = 0; n < 5_000; n++) bus.publish(refused({ delivery: `dlv_${n}` }))
  expect(read()).toHaveLength(10)
  clock.advance('10s')
  expect(read()).toEqual([
    {
      level: 'warn',
      time: expect.any(String),
      message: 'delivery refused, repeatedly',
      count: 4_990,
      verdict: 'bad_signature',
      endpoint: 'end_1',
      endpointName: 'main',
      reason: 'mismatch',
    },
  ])
  bus.publish(refused())
  expect(read()).toHaveLength(1)
})

test('refusals with another reason or of another endpoint have lines of their own, and accepted ones all', () => {
  const { bus, read } = openLog(new ManualClock(NOW))
  for (let n = 0; n < 11; n++) {
    bus.publish(refused())
    bus.publish(refused({ endpoint: 'end_2' }))
    bus.publish(refused({ facts: { reason: 'missing_header' } }))
    bus.publish(NOTICES['delivery.received'])
  }
  expect(read()).toHaveLength(10 * 3 + 11)
})

test('a fault that many parts meet is told once, and its number after a minute', () => {
  const { bus, clock, read } = openLog(new ManualClock(NOW))
  const { error } = NOTICES.fault
  for (let n = 0; n < 300; n++) bus.publish({ kind: 'fault', where: `run run_${n}`, error })
  bus.publish({ kind: 'fault', where: 'the heartbeat', error: { ...error, message: 'another one' } })
  expect(read().map(({ err }) => err.message)).toEqual(['declined', 'another one'])
  clock.advance('1m')
  expect(read()).toMatchObject([{ level: 'error', message: 'fault, repeatedly', count: 299, err: error }])
})

test('ten steps of a workflow that are tried again after like errors have lines in a minute, and one sum', () => {
  const { bus, clock, read } = openLog(new ManualClock(NOW))
  const failed = NOTICES['step.failed']
  for (let n = 0; n < 300; n++) bus.publish({ ...failed, run: `run_${n}`, step: `pay[${n}]` })
  bus.publish({ ...failed, workflow: 'another' })
  bus.publish({ ...failed, retryAt: null })
  expect(read().map(({ message, run }) => `${message} ${run}`)).toEqual([
    ...Array.from({ length: 10 }, (_, n) => `step will be tried again run_${n}`),
    'step will be tried again run_1',
    'step failed run_1',
  ])
  clock.advance('1m')
  const [sum, ...others] = read()
  const { workflow, error: err } = failed
  expect(sum).toMatchObject({ message: 'step will be tried again, repeatedly', count: 290, workflow, err })
  expect(Object.keys(sum)).not.toEqual(expect.arrayContaining(['run', 'step', 'trace_id']))
  expect(others).toEqual([])
})

test('reasons that a stranger invents share one sum once there are 200', () => {
  const { bus, log, read } = openLog(new ManualClock(NOW))
  for (let n = 0; n < 1_000; n++) bus.publish(refused({ facts: { reason: `reason ${n}` } }))
  expect(read()).toHaveLength(200 + 10)
  void log.end()
  expect(read()).toMatchObject([{ count: 790 }])
})

test('a clock that is set back holds up no line', () => {
  vi.useFakeTimers({ now: NOW })
  onTestFinished(() => void vi.useRealTimers())
  const { bus, read } = openLog(systemClock)
  const fault = NOTICES.fault
  bus.publish(fault)
  bus.publish(fault)
  vi.setSystemTime(NOW - 3_600_000)
  vi.advanceTimersByTime(60_000)
  expect(read()).toMatchObject([{}, { count: 1 }])
})
