import { expect, test } from 'vitest'
import { QueueEstimate } from '../../../src/engine/claim/worker-counts.ts'

/** A claim from its question to its answer; gives what it asked for. */
function claim(
  queue: QueueEstimate,
  { free, isShared = true, waiting }: Record<'free' | 'waiting', number> & { isShared?: boolean },
) {
  const asked = queue.ask(free, isShared)
  queue.receive(Math.min(asked, waiting))
  queue.release()
  return asked
}

test('a claim asks for every free slot where no deliveries arrive', () => {
  expect(claim(new QueueEstimate(), { free: 200, isShared: false, waiting: 0 })).toBe(200)
})

test('a claim leaves most slots to deliveries while the queue is empty, and half of a few', () => {
  expect(claim(new QueueEstimate(), { free: 200, waiting: 0 })).toBe(8)
  expect(claim(new QueueEstimate(), { free: 3, waiting: 0 })).toBe(2)
  expect(claim(new QueueEstimate(), { free: 1, waiting: 0 })).toBe(1)
})

test('a claim asks for all runs that deliveries enqueued, and the queue counts as cleared', () => {
  const queue = new QueueEstimate()
  queue.add(50)
  expect(queue.isCleared).toBe(false)
  expect(queue.ask(200, true)).toBe(58)
  expect(queue.isCleared).toBe(true)
  queue.receive(50)
  queue.release()
  expect(queue.isCleared).toBe(true)
  expect(queue.asked).toBe(0)
})

test('runs enqueued since the claim was asked remain in the estimate', () => {
  const queue = new QueueEstimate()
  queue.add(3)
  const asked = queue.ask(5, true)
  queue.add(4)
  expect(queue.isCleared).toBe(false)
  queue.receive(asked - 1)
  queue.release()
  expect(queue.ask(100, true)).toBe(4 + 8)
})

test('a claim asks for more each time where other processes fill the queue', () => {
  const queue = new QueueEstimate()
  const asked = [1, 2, 3, 4].map(() => claim(queue, { free: 200, waiting: 1_000 }))
  expect(asked).toEqual([8, 24, 56, 120])
})
