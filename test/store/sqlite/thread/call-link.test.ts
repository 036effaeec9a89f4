import { EventEmitter } from 'node:events'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openWrites } from '../../../../src/store/sqlite/thread/open-writes.ts'

/** A writer's names are all that is asked of them. */
const NO_TABLES = { prepare: () => {} } as unknown as Parameters<typeof openWrites>[1]

test('a thread that answers nothing for a minute fails its calls, and one that answers slowly none', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const channel = Object.assign(new EventEmitter(), { postMessage: () => {} })
  const { link } = openWrites(channel, NO_TABLES)
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

test('answers come in slices, and that of a run which holds a slot at a gate waits for no others', async () => {
  const channel = Object.assign(new EventEmitter(), { postMessage: () => {} })
  const { claimRuns, releaseRun } = openWrites(channel, NO_TABLES).writes
  const claimed = claimRuns('wrk_1', 1, 1)
  channel.emit('message', [[1, [{ isAdmitted: true, lease: { ...LEASE, runId: 'run_placed' } }]]])
  await claimed
  const answered: string[] = []
  const runIds = [...Array.from({ length: 40 }, (_, n) => `run_${n}`), 'run_placed']
  const calls = runIds.map((runId) => releaseRun({ ...LEASE, runId }).then(() => answered.push(runId)))
  channel.emit(
    'message',
    [...runIds.keys()].map((index) => index + 2),
  )
  await new Promise(process.nextTick)
  expect(answered.toSorted()).toEqual(['run_placed', ...runIds.slice(0, 6)].toSorted())
  await Promise.all(calls)
  expect(answered.filter((runId) => runId !== 'run_placed')).toEqual(runIds.slice(0, -1))
})

const LEASE = { runId: '', fence: 1, worker: 'wrk_1' }
