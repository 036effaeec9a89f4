import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decideBlame, planAlone, type Suspect } from '../../../src/core/runs/blame.ts'
import { ALONE_MS, MAX_CRASHES } from '../../../src/core/runs/lease.ts'

const NEW: Suspect = { run: 'run_1', crashes: 0, suspicion: 0 }

test('one death of a process makes nobody a suspect, a second one everybody who was at work', () => {
  const once = decideBlame([NEW, NEW], 'process')
  expect(once.map(({ kind }) => kind)).toEqual(['release', 'release'])
  expect(decideBlame(once, 'process').map(({ kind }) => kind)).toEqual(['isolate', 'isolate'])
})

test('the end of an engine makes all its runs suspects at once, because author code ended it', () => {
  expect(decideBlame([NEW, NEW], 'engine')).toEqual([
    { ...NEW, kind: 'isolate', suspicion: 2, reason: null },
    { ...NEW, kind: 'isolate', suspicion: 2, reason: null },
  ])
})

test('a run that was seen to end the engine is parked at the second time, and its neighbours go free', () => {
  const harm = { runs: ['run_2'], how: 'blocked the engine at a.workflow.ts:3:5' }
  const atWork = [NEW, { ...NEW, run: 'run_2' }, { ...NEW, run: 'run_3' }]
  const once = decideBlame(atWork, 'engine', harm)
  expect(once.map(({ kind, crashes }) => [kind, crashes])).toEqual([
    ['release', 0],
    ['isolate', 1],
    ['release', 0],
  ])
  const reason = 'it ended its worker 2 times: its code blocked the engine at a.workflow.ts:3:5'
  expect(decideBlame(once.slice(1, 2), 'engine', harm)).toMatchObject([{ kind: 'park', reason }])
})

test('of several runs of a harmful module each is tried alone; where none is at work, nobody is blamed', () => {
  const atWork = [NEW, { ...NEW, run: 'run_2' }, { ...NEW, run: 'run_3' }]
  const kinds = (runs: string[]) => decideBlame(atWork, 'engine', { runs, how: '' }).map(({ kind }) => kind)
  expect(kinds(['run_1', 'run_3'])).toEqual(['isolate', 'release', 'isolate'])
  expect(kinds([])).toEqual(['release', 'release', 'release'])
})

test('a run is parked after five deaths at which it alone was at work', () => {
  expect(decideBlame([{ ...NEW, crashes: MAX_CRASHES - 2, suspicion: 2 }], 'engine')).toMatchObject([
    { kind: 'isolate' },
  ])
  expect(decideBlame([{ ...NEW, crashes: MAX_CRASHES - 1, suspicion: 2 }], 'process')).toMatchObject([{ kind: 'park' }])
})

test('the reason of a run that was alone at each death says how its code harmed the engine', () => {
  const last = { ...NEW, crashes: MAX_CRASHES - 1, suspicion: 2 }
  const reason = 'it ended its worker 5 times, with no other run at work: its code filled the memory'
  expect(decideBlame([last], 'engine', { runs: null, how: 'filled the memory' })).toMatchObject([{ reason }])
})

test('no run is ever parked for a death that it shared', () => {
  const suspect = fc.record({ run: fc.uuid(), crashes: fc.nat(MAX_CRASHES - 1), suspicion: fc.nat(2) })
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

test('only a death that nobody saw the cause of, among several, lets each be alone for longer', () => {
  const runs = ['run_1', 'run_2']
  expect(planAlone(ALONE_MS, { runs, guilty: [] })).toBe(4 * ALONE_MS)
  expect(planAlone(ALONE_MS, { runs, guilty: ['run_2'] })).toBe(ALONE_MS)
  expect(planAlone(ALONE_MS, { runs: ['run_1'], guilty: [] })).toBe(ALONE_MS)
})
