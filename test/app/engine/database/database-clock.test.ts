import { expect, onTestFinished, test, vi } from 'vitest'
import { DatabaseClock } from '../../../../src/app/engine/database/database-clock.ts'

const HOUR = 3_600_000

/** A database whose clock differs from the machine's by so much. */
function databaseAhead(ms: number) {
  const state = { ms, asked: 0 }
  const readClock = async () => {
    state.asked += 1
    return Date.now() + state.ms
  }
  return { state, readClock }
}

async function follow(store: { readClock: () => Promise<number | null> }) {
  const { clock, stop } = await DatabaseClock.follow(store)
  onTestFinished(stop)
  return clock
}

/** Time stands still until it is moved. */
function holdTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
}

test('the clock of the database counts, not the one of the machine', async () => {
  holdTime()
  for (const ms of [HOUR, -HOUR]) {
    const clock = await follow(databaseAhead(ms))
    expect(Math.abs(clock.now() - (Date.now() + ms))).toBeLessThan(100)
  }
})

test('a timer fires at its moment by the clock of the database', async () => {
  const clock = await follow(databaseAhead(HOUR))
  const moment = clock.now() + 20
  await new Promise<void>((resolve) => clock.at(moment, resolve))
  expect(clock.now()).toBeGreaterThanOrEqual(moment)
})

test('an answer that took long does not move the clock beyond what it proves', async () => {
  holdTime()
  const moments = [0, 0, 0, 0, 0, 0, 0, 0, -50]
  const readClock = async () => Date.now() + (moments.pop() ?? 0)
  const clock = await follow({ readClock })
  const before = clock.now()
  // The first answer was 50 ms behind; the others have corrected it.
  expect(Math.abs(before - Date.now())).toBeLessThan(20)
  expect(clock.now()).toBeGreaterThanOrEqual(before)
})

test('a database whose clock is set back makes it stand still until that has caught up', async () => {
  holdTime()
  const database = databaseAhead(0)
  const clock = await follow(database)
  const before = clock.now()
  database.state.ms = -60_000
  await vi.advanceTimersByTimeAsync(5_000)
  expect(clock.now()).toBe(before)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(Math.abs(clock.now() - (before + 5_000))).toBeLessThan(100)
})

test('a database whose clock is set back by an hour stops nothing for an hour', async () => {
  holdTime()
  const database = databaseAhead(0)
  const clock = await follow(database)
  const woken: string[] = []
  const begin = clock.now()
  clock.at(begin + 10_000, () => woken.push('poll'))
  clock.at(begin + HOUR, () => woken.push('sleep'))
  database.state.ms = -HOUR
  await vi.advanceTimersByTimeAsync(80_000)
  expect(woken).toEqual(['poll'])
  expect(Math.abs(clock.now() - (Date.now() - HOUR))).toBeLessThan(100)
  clock.at(clock.now() + 1_000, () => woken.push('next'))
  await vi.advanceTimersByTimeAsync(2_000)
  expect(woken).toEqual(['poll', 'next'])
  // A moment is one of the clock, and comes when that has caught up.
  await vi.advanceTimersByTimeAsync(2 * HOUR)
  expect(woken).toEqual(['poll', 'next', 'sleep'])
})
