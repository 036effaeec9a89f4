import { expect, test } from 'vitest'
import { mentionsPath, parsePathPattern } from '../../../src/core/incoming/event-search.ts'

const mentions = (data: unknown, pattern: string) => mentionsPath(data, parsePathPattern(pattern))
const FILE = { service: 'storage_a', file: { id: 'fil_1', path: '/in/q3/a.pdf' } }
const TRANSFER = {
  transfer: {
    source: { service: 'storage_a', path: '/in/q3/a.pdf' },
    destination: { service: 'storage_b', path: '/out/a.pdf' },
  },
}

test.each([
  [FILE, '/in/q3/a.pdf'],
  [FILE, 'storage_a:/in/q3/a.pdf'],
  [FILE, '/in/*'],
  [FILE, 'storage_a:/in/*'],
  [FILE, 'fil_1'],
  [TRANSFER, 'storage_b:/out/*'],
  [{ files: [FILE] }, 'storage_a:/in/q3/a.pdf'],
])('%j is found by %s', (data, pattern) => {
  expect(mentions(data, pattern)).toBe(true)
})

test.each([
  [FILE, '/in/q3'],
  [FILE, 'storage_b:/in/q3/a.pdf'],
  [TRANSFER, 'storage_a:/out/*'],
  [{ note: null }, '/in/*'],
])('%j is not found by %s', (data, pattern) => {
  expect(mentions(data, pattern)).toBe(false)
})
