import { getEventListeners } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { UpshotError } from '../../src/core/errors.ts'
import { isoTime, Loop, ManualClock, parseDuration, parseMoment, systemClock, waitUntil } from '../../src/core/time.ts'
import { cpuMsOf } from '../support/cpu-time.ts'

describe('parseDuration', () => {
  it.each([
    [0, 0],
    [1_500, 1_500],
    ['500ms', 500],
    ['30s', 30_000],
    ['15m', 900_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['1w', 604_800_000],
    ['1h 30m', 5_400_000],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    [' 2 s ', 2_000],
    ['0.1s', 100],
    ['2.3h', 8_280_000],
    ['2.2m', 132_000],
    ['0.1ms', 1],
    [100_000 / 3, 33_334],
    [0.2 + 0.1, 1],
    [8.6e15, 8.6e15],
  ])('parseDuration reads %j as %d ms', (text, ms) => expect(parseDuration(text)).toBe(ms))

  it.each([
    '',
    ' ',
    '5',
    's',
    '5 parsecs',
    '-5s',
    '1h-30m',
    '1..5h',
    '5S',
    '1 second',
    -1,
    -0.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
  ])('parseDuration refuses %j and says how to write a duration', (text) => {
    expect(() => parseDuration(text)).toThrow(UpshotError)
    expect(() => parseDuration(text)).toThrow(/is not a duration.*"30s"/)
  })

  it.each([8.6e15 + 1, '99540741d', 1e300])('parseDuration refuses %j, after which no date would be left', (given) =>
    expect(() => parseDuration(given, 'timeout')).toThrow(/^timeout: ".*" is too long/),
  )

  it('parseMoment rounds up to whole milliseconds, and refuses what is no date', () => {
    expect(parseMoment(new Date(5), 'at')).toBe(5)
    expect(parseMoment(1_000.1, 'at')).toBe(1_001)
    for (const moment of [new Date(Number.NaN), Number.NaN, Number.POSITIVE_INFINITY, 8.64e15 + 1, '5' as never])
      expect(() => parseMoment(moment, 'at')).toThrow(/^at: ".*" is not a moment/)
  })

  it('parseDuration stays fast on a text made to slow it down', async () => {
    const text = `${'1s '.repeat(20_000)}x`
    expect(await cpuMsOf(() => expect(() => parseDuration(text)).toThrow(UpshotError))).toBeLessThan(500)
  })
})

describe('ManualClock', () => {
  it('a ManualClock fires nothing when it is set back', () => {
    const clock = new ManualClock(100)
    const wake = vi.fn()
    clock.at(150, wake)
    clock.set(10)
    clock.set(149)
    expect(wake).not.toHaveBeenCalled()
    clock.set(150)
    expect(wake).toHaveBeenCalledOnce()
  })
})

describe('waitUntil', () => {
  it('waitUntil leaves no listener on a signal that outlives it', async () => {
    const clock = new ManualClock(0)
    const { signal } = new AbortController()
    const wait = waitUntil(clock, 10, signal)
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    clock.advance(10)
    await wait
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  it("waitUntil rejects with the signal's reason and leaves no timer behind", async () => {
    const clock = new ManualClock(0)
    const controller = new AbortController()
    const wait = waitUntil(clock, 10, controller.signal)
    controller.abort(new Error('stop'))
    await expect(wait).rejects.toThrow('stop')
    expect(clock.nextAt()).toBeNull()
  })

  it('waitUntil rejects at once for a signal that has aborted', async () => {
    const clock = new ManualClock(0)
    await expect(waitUntil(clock, 10, AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop')
    expect(clock.nextAt()).toBeNull()
  })
})

describe('systemClock', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }))
  afterEach(() => void vi.useRealTimers())

  it('the system clock wakes at a moment weeks ahead, beyond the longest timer', () => {
    const wake = vi.fn()
    const moment = 1_000_000 + parseDuration('30d')
    systemClock.at(moment, () => wake(systemClock.now()))
    vi.advanceTimersByTime(parseDuration('30d') - 1)
    expect(wake).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(wake).toHaveBeenCalledExactlyOnceWith(moment)
  })

  it('the system clock notices within half a minute that it was set forward', () => {
    const wake = vi.fn()
    systemClock.at(1_000_000 + parseDuration('1d'), wake)
    vi.setSystemTime(1_000_000 + parseDuration('2d'))
    vi.advanceTimersByTime(30_001)
    expect(wake).toHaveBeenCalledOnce()
  })

  it('a long timer of the system clock can be cancelled between two of its parts', () => {
    const wake = vi.fn()
    const cancel = systemClock.at(1_000_000 + 90_000, wake)
    vi.advanceTimersByTime(45_000)
    cancel()
    vi.advanceTimersByTime(90_000)
    expect(wake).not.toHaveBeenCalled()
    expect(vi.getTimerCount()).toBe(0)
  })
})

it('isoTime writes a moment as ISO text', () => expect(isoTime(0)).toBe('1970-01-01T00:00:00.000Z'))

it('a loop goes on after a failed round, waits as a round says, and a stop lets none follow', async () => {
  const clock = new ManualClock(0)
  const rounds: (() => Promise<number | undefined>)[] = [
    () => Promise.reject(new Error('broken')),
    async () => 5,
    async () => undefined,
  ]
  const heard: string[] = []
  class Work extends Loop {
    protected async round() {
      heard.push(`round at ${clock.now()}`)
      return rounds.shift()?.()
    }
    protected override failed(error: unknown) {
      heard.push((error as Error).message)
    }
  }
  const work = new Work(clock, { everyMs: 100, firstMs: 10 })
  work.start()
  for (const moment of [9, 10, 109, 110, 114, 115]) {
    clock.set(moment)
    await setImmediate()
  }
  expect(heard).toEqual(['round at 10', 'broken', 'round at 110', 'round at 115'])
  await work.stop()
  work.start()
  expect([clock.nextAt(), heard.length]).toEqual([null, 4])
})
