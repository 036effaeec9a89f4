import { EventEmitter } from 'node:events'
import { expect, onTestFinished, test, vi } from 'vitest'
import { WriterLink } from '../../../../src/store/sqlite/thread/writer-link.ts'

test('a thread that answers nothing for a minute fails its calls, and one that answers slowly none', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const channel = Object.assign(new EventEmitter(), { postMessage: () => {} })
  const link = new WriterLink(channel)
  const ends: string[] = []
  const call = (method: 'pauseWorkflow' | 'saveAccount') =>
    link.call(method, []).then(
      () => ends.push(method),
      (error: Error) => ends.push(error.message),
    )
  const calls = [call('pauseWorkflow'), call('saveAccount')]
  await vi.advanceTimersByTimeAsync(55_000)
  channel.emit('message', [1])
  await vi.advanceTimersByTimeAsync(55_000)
  expect(ends).toEqual(['pauseWorkflow'])
  await vi.advanceTimersByTimeAsync(30_000)
  await Promise.all(calls)
  expect(ends[1]).toBe(
    'The store cannot be written: its thread has not answered for 60 s, with saveAccount first in line.',
  )
  // It answers again: what was given up is dropped, and later calls are answered.
  channel.emit('message', [2])
  const later = call('pauseWorkflow')
  channel.emit('message', [3])
  await later
  expect(ends[2]).toBe('pauseWorkflow')
})
