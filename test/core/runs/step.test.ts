import { describe, expect, it } from 'vitest'
import {
  decideMismatch,
  type Effect,
  planFork,
  planReset,
  type StepKind,
  type StepStatus,
  stepKeys,
} from '../../../src/core/runs/step.ts'
import { checkpoint, NOW } from '../../support/fixtures.ts'

describe('stepKeys', () => {
  it('stepKeys tells the turns of a loop apart by their keys, in any order', () => {
    const key = stepKeys()
    expect([key(['check', 'b']), key(['check', 'a']), key(['check', 7]), key('check')]).toEqual([
      'check[b]',
      'check[a]',
      'check[7]',
      'check',
    ])
  })

  it('stepKeys replaces a key that no index of a database takes by its hash', () => {
    const [one, other] = ['a', 'b'].map((end) => stepKeys()(['copy', '名'.repeat(500) + end]))
    expect(one).toMatch(/^copy\[sha256:[0-9a-f]{64}\]$/)
    expect(one).not.toBe(other)
    expect(stepKeys()(['copy', '名'.repeat(500)])).toBe(`copy[${'名'.repeat(500)}]`)
  })

  it.each(['', 'a#2', 'a[b]', ']', 'x'.repeat(201), undefined, 7])('stepKeys refuses the name %j', (name) => {
    expect(() => stepKeys()(name as string)).toThrow(/is not a step name/)
    expect(() => stepKeys()([name as string, 'key'])).toThrow(/is not a step name/)
  })
})

describe('decideMismatch', () => {
  const known = { key: 'pay', kind: 'run', effect: 'write' } as const
  const step = (kind: StepKind, effect: Effect) => ({ at: 'step', known, kind, effect }) as const
  const end = (...statuses: StepStatus[]) =>
    ({
      at: 'end',
      unreached: statuses.map((status, position) => ({ key: 'pay', kind: 'run' as const, status, position })),
    }) as const

  it('a step may be reached with its verb and effect unchanged', () => {
    expect(decideMismatch(step('run', 'write'), false)).toBeNull()
    expect(decideMismatch(step('run', 'write'), true)).toBeNull()
  })

  it('a step with another verb is a mismatch under any code', () => {
    expect(decideMismatch(step('sleep', 'write'), false)).toBe('diverged: step "pay" was a `run` and is a `sleep` now')
    expect(decideMismatch(step('sleep', 'write'), true)).toMatch(/^diverged: code changed: step "pay" was/)
  })

  it('a step with another effect is a mismatch under any code', () => {
    expect(decideMismatch(step('run', 'delete'), false)).toMatch(/had the effect `write` and has `delete` now/)
    expect(decideMismatch(step('run', 'delete'), true)).toMatch(/had the effect `write` and has `delete` now/)
  })

  it('an end without a step that has happened is a mismatch under changed code', () => {
    expect(decideMismatch(end(), true)).toBeNull()
    expect(decideMismatch(end('waiting'), true)).toBeNull()
    for (const status of ['completed', 'failed'] as const) {
      expect(decideMismatch(end('waiting', status), true)).toBe(
        'diverged: code changed: step "pay" was finished but not reached',
      )
    }
    expect(decideMismatch(end('started'), true)).toBe('diverged: code changed: step "pay" was started but not reached')
  })

  it('an end without a recorded outcome is a mismatch under any code', () => {
    const unreached = (settled?: number) =>
      ({ at: 'end', unreached: [{ key: 'pay', kind: 'run', status: 'completed', position: 0, settled }] }) as const
    expect(decideMismatch(unreached(), false)).toBe('diverged: step "pay" was finished but not reached')
    expect(decideMismatch(unreached(1), false)).toBe('diverged: step "pay" was finished but not reached')
    expect(decideMismatch(unreached(0), false)).toBeNull()
  })

  it('a marker that is taken out is no mismatch', () => {
    const marker = { key: 'patched[a]', kind: 'patch', status: 'completed', position: 0, settled: 0 } as const
    expect(decideMismatch({ at: 'end', unreached: [marker] }, true)).toBeNull()
  })

  it('code that rests before a recorded outcome names the step that was expected and the one that came', () => {
    const came = { key: 'ship', kind: 'sleep', place: 'workflows/a.ts:3:5' } as const
    const expected = 'diverged: step "pay" (run) was expected, and'
    expect(decideMismatch({ at: 'rest', expected: known, came }, false)).toBe(
      `${expected} step "ship" (sleep) came at workflows/a.ts:3:5`,
    )
    expect(decideMismatch({ at: 'rest', expected: known, came: null }, false)).toBe(`${expected} no other came`)
  })
})

const failed = (key: string, position: number, finishedAt: number) =>
  checkpoint(key, { position, status: 'failed', startedAt: finishedAt - 3, finishedAt })

it('a retry resets the failed steps after which nothing began, and the one that ended the run', () => {
  const caught = failed('caught', 0, NOW)
  const after = checkpoint('after', { position: 1, startedAt: NOW, finishedAt: NOW + 1 })
  const sides = [failed('x', 2, NOW + 5), failed('y', 3, NOW + 6)]
  expect(planReset([caught, after, ...sides], null)).toEqual(['x', 'y'])
  expect(planReset([caught, after], { name: 'Error', message: '' })).toEqual([])
  expect(planReset([caught, after], { name: 'Error', message: '', step: 'caught' })).toEqual(['caught'])
  const once = { name: 'Error', message: 'declined', once: true } as const
  expect(planReset([{ ...failed('pay', 0, NOW), error: once }], { ...once, step: 'pay' })).toEqual([])
})

it('a fork takes over the finished steps that began before its step', () => {
  const steps = [
    checkpoint('a'),
    failed('b', 1, NOW),
    checkpoint('nap', { position: 2, status: 'waiting', dueAt: NOW }),
    checkpoint('c', { position: 3 }),
  ]
  expect(planFork(steps, 'c')).toEqual(['a', 'b'])
  expect(planFork(steps, 'a')).toEqual([])
  expect(() => planFork(steps, 'd')).toThrow('no step "d"')
  expect(() => planFork([], 'd')).toThrow('no step "d"')
})
