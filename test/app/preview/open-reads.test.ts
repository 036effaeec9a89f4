import { expect, test } from 'vitest'
import { openReads } from '../../../src/app/preview/planned-files.ts'
import { ManualClock } from '../../../src/core/time.ts'
import type { FilesClient } from '../../../src/files/index.ts'

/** A client whose reads are put off by a minute each, so many times. */
function putOff(clock: ManualClock, times: number): FilesClient {
  let left = times
  const get = async () => {
    if (left-- > 0) throw Object.assign(new Error('the limit is used up'), { retryAt: clock.now() + 60_000 })
    return { id: 'fil_1' }
  }
  return { get } as never
}

test('a read that is put off waits as long as it may, and no longer', async () => {
  const clock = new ManualClock(0)
  const open = (times: number) => {
    const client = putOff(clock, times)
    const { signal } = new AbortController()
    return openReads({ clientOf: async () => client }, { clock, signal, longestMs: 90_000 })
  }
  const once = open(1)<object>('default', 'get', {})
  await new Promise(setImmediate)
  clock.advance('1m')
  expect(await once).toEqual({ id: 'fil_1' })
  const twice = expect(open(2)<object>('default', 'get', {})).rejects.toThrow('the limit is used up')
  await new Promise(setImmediate)
  clock.advance('1m')
  await twice
})
