import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decideBlame, type Suspect } from '../../../src/core/runs/blame.ts'
import { MAX_CRASHES } from '../../../src/core/runs/lease.ts'

const NEW: Suspect = { crashes: 0, suspicion: 0 }

test('one death of a process makes nobody a suspect, a second one everybody who was at work', () => {
  const once = decideBlame([NEW, NEW], 'process')
  expect(once.map(({ kind }) => kind)).toEqual(['release', 'release'])
  expect(decideBlame(once, 'process').map(({ kind }) => kind)).toEqual(['isolate', 'isolate'])
})

test('the end of an engine makes all its runs suspects at once, because author code ended it', () => {
  expect(decideBlame([NEW, NEW], 'engine')).toEqual([
    { kind: 'isolate', crashes: 0, suspicion: 2 },
    { kind: 'isolate', crashes: 0, suspicion: 2 },
  ])
})

test('a run is parked after five deaths at which it alone was at work', () => {
  expect(decideBlame([{ crashes: MAX_CRASHES - 2, suspicion: 2 }], 'engine')).toMatchObject([{ kind: 'isolate' }])
  expect(decideBlame([{ crashes: MAX_CRASHES - 1, suspicion: 2 }], 'process')).toMatchObject([{ kind: 'park' }])
})

test('no run is ever parked for a death that it shared', () => {
  const suspect = fc.record({ crashes: fc.nat(MAX_CRASHES - 1), suspicion: fc.nat(2) })
  fc.assert(
    fc.property(
      fc.array(suspect, { minLength: 2 }),
      fc.constantFrom('process' as const, 'engine' as const),
      (runs, end) => {
        const blamed = decideBlame(runs, end)
        expect(blamed.every(({ kind }) => kind !== 'park')).toBe(true)
        expect(blamed.map(({ crashes }) => crashes)).toEqual(runs.map(({ crashes }) => crashes))
      },
    ),
  )
})
