import { describe, expect, it } from 'vitest'
import { decideMismatch, type Effect, type StepKind, type StepStatus, stepKeys } from '../../../src/core/runs/step.ts'

describe('stepKeys', () => {
  it('counts steps of one name', () => {
    const key = stepKeys()
    expect(['pay', 'ship', 'pay', 'pay'].map(key)).toEqual(['pay', 'ship', 'pay#2', 'pay#3'])
  })

  it('keeps the turns of a loop apart by their keys, whatever their order', () => {
    const key = stepKeys()
    expect([key(['check', 'b']), key(['check', 'a']), key(['check', 7]), key('check')]).toEqual([
      'check[b]',
      'check[a]',
      'check[7]',
      'check',
    ])
  })

  it('counts a repeated key too', () => {
    const key = stepKeys()
    expect([key(['check', 1]), key(['check', '1'])]).toEqual(['check[1]', 'check[1]#2'])
  })

  it('starts anew with each pass', () => {
    expect(stepKeys()('pay')).toBe('pay')
    expect(stepKeys()('pay')).toBe('pay')
  })

  it.each(['', 'a#2', 'a[b]', ']', 'x'.repeat(201), undefined, 7])('refuses the name %j', (name) => {
    expect(() => stepKeys()(name as string)).toThrow(/is not a step name/)
    expect(() => stepKeys()([name as string, 'key'])).toThrow(/is not a step name/)
  })
})

describe('decideMismatch', () => {
  const known = { key: 'pay', kind: 'run', effect: 'write' } as const
  const step = (kind: StepKind, effect: Effect) => ({ at: 'step', known, kind, effect }) as const
  const end = (...statuses: StepStatus[]) =>
    ({ at: 'end', unreached: statuses.map((status) => ({ key: 'pay', status })) }) as const

  it('lets a step be reached as what it was', () => {
    expect(decideMismatch(step('run', 'write'), false)).toBeNull()
    expect(decideMismatch(step('run', 'write'), true)).toBeNull()
  })

  it('refuses another verb, under any code', () => {
    expect(decideMismatch(step('sleep', 'write'), false)).toBe('step "pay" was a `run` and is a `sleep` now')
    expect(decideMismatch(step('sleep', 'write'), true)).toMatch(/^code changed: step "pay" was/)
  })

  it('refuses another effect under changed code', () => {
    expect(decideMismatch(step('run', 'delete'), false)).toBeNull()
    expect(decideMismatch(step('run', 'delete'), true)).toMatch(/had the effect `write` and has `delete` now/)
  })

  it('refuses an end without a step that has happened, under changed code', () => {
    expect(decideMismatch(end('completed'), false)).toBeNull()
    expect(decideMismatch(end(), true)).toBeNull()
    expect(decideMismatch(end('waiting'), true)).toBeNull()
    for (const status of ['completed', 'failed'] as const) {
      expect(decideMismatch(end('waiting', status), true)).toBe('code changed: step "pay" was finished but not reached')
    }
    expect(decideMismatch(end('started'), true)).toBe('code changed: step "pay" was started but not reached')
  })
})
