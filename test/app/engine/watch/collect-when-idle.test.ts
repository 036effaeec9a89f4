import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { collectGarbage, collectWhenIdle } from '../../../../src/app/engine/watch/collect-when-idle.ts'

const LOOK_MS = 5_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('collects once after the start and once after each burst, never while the thread works', () => {
  let load = 1
  const collect = vi.fn()
  const stop = collectWhenIdle({ readLoad: () => load, collect })
  const after = (looks: number, share: number) => {
    load = share
    vi.advanceTimersByTime(looks * LOOK_MS)
    return collect.mock.calls.length
  }
  expect(after(10, 0.06)).toBe(0)
  expect(after(1, 0.05)).toBe(0)
  expect(after(1, 0.05)).toBe(1)
  expect(after(100, 0)).toBe(1)
  expect(after(1, 0.5)).toBe(1)
  expect(after(1, 0)).toBe(1)
  expect(after(1, 0.5)).toBe(1)
  expect(after(2, 0)).toBe(2)
  after(1, 1)
  stop()
  expect(after(100, 0)).toBe(2)
})

test('frees what nobody holds', async () => {
  vi.useRealTimers()
  const free = () => new WeakRef({})
  const freed = free()
  // An object that was made in this turn of the loop is held until the turn ends.
  await sleep(0)
  collectGarbage()
  expect(freed.deref()).toBeUndefined()
})
