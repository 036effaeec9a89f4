import { expect, test } from 'vitest'
import { Slots } from '../../../src/engine/claim/worker-counts.ts'

test('slots are taken all or none, and are free again when they are given back', () => {
  const slots = new Slots()
  slots.give(3)
  expect(slots.take(2)).toBe(true)
  expect(slots.take(2)).toBe(false)
  expect(slots.free).toBe(1)
  slots.give(2)
  expect(slots.takeAll()).toBe(3)
  expect(slots.takeAll()).toBe(0)
})

test('two counts in the same memory see one another', () => {
  const cells = new Int32Array(new SharedArrayBuffer(4))
  const [worker, receiver] = [new Slots(cells), new Slots(cells)]
  worker.give(1)
  expect(receiver.take(1)).toBe(true)
  expect(worker.take(1)).toBe(false)
})

test('closed slots cannot be taken, whatever is given back', () => {
  const slots = new Slots()
  slots.give(2)
  expect(slots.take(1)).toBe(true)
  slots.close()
  slots.give(1)
  expect(slots.take(1)).toBe(false)
  expect(slots.takeAll()).toBe(0)
})
