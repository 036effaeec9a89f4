import { expect, it } from 'vitest'
import { computeDue, describeGathering, describeWait, type Gate } from '../../../src/core/runs/admission.ts'

const NOW = Date.UTC(2026, 5, 1, 12)
const gate: Gate = { name: 'concurrency-1', key: '', most: 4, perMs: null }

it('describeWait says which gate a run waits at', () => {
  const known = { taken: 4, nextAt: null }
  expect(describeWait(gate, known)).toBe('concurrency: 4 of 4 runs are at work')
  expect(describeWait({ ...gate, name: 'concurrency-2', key: 'storage_b' }, known)).toBe(
    'concurrency: 4 of 4 runs with key storage_b are at work',
  )
  expect(describeWait({ ...gate, name: 'singleton', key: 'a' }, known)).toBe(
    'singleton: another run with key a is unfinished',
  )
})

it.each([
  [90_000, '90s'],
  [60_000, '1m'],
  [7_200_000, '2h'],
  [86_400_000, '1d'],
  [1_500, '1500ms'],
])('describeWait writes a throttle of %d ms as %s', (perMs, text) => {
  const throttle: Gate = { name: 'throttle', key: '', most: 4, perMs }
  expect(describeWait(throttle, { taken: 4, nextAt: NOW })).toBe(
    `throttle: 4 of 4 runs started within ${text}, next start at 2026-06-01T12:00:00.000Z`,
  )
})

it('describeGathering and computeDue say how many events are folded and when the run starts', () => {
  const batch = { kind: 'batch', key: '', size: 200, waitMs: 10 } as const
  const debounce = { kind: 'debounce', key: '', waitMs: 10, maxMs: 15 } as const
  expect(describeGathering(batch, { gathered: 17, dueAt: NOW })).toBe(
    'batch: 17 of 200, until 2026-06-01T12:00:00.000Z',
  )
  expect(describeGathering(debounce, { gathered: 1, dueAt: NOW })).toContain('debounce: 1 event, until')
  expect(describeGathering(debounce, { gathered: 2, dueAt: NOW })).toContain('debounce: 2 events, until')
  expect(computeDue(batch, { since: NOW, now: NOW + 5 })).toBe(NOW + 10)
  expect(computeDue(debounce, { since: NOW, now: NOW + 4 })).toBe(NOW + 14)
  expect(computeDue(debounce, { since: NOW, now: NOW + 9 })).toBe(NOW + 15)
})
