import { describe, expect, it } from 'vitest'
import { stepKeys } from '../../src/core/step.ts'

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
    expect(() => stepKeys()(name as string)).toThrow(/is no step name/)
    expect(() => stepKeys()([name as string, 'key'])).toThrow(/is no step name/)
  })
})
