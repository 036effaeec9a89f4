import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareSides, describeChange } from '../../../../src/engine/preview/compare/compare-sides.ts'
import type { Deed, RunSide } from '../../../../src/engine/preview/compare/deed.ts'

/** Effects in the order in which they begin; `a<b`: `b` comes after `a` has ended. */
const sideOf = (text: string): RunSide => {
  const parts = text.split(' ').map((part) => part.split('<').reverse())
  const deeds = parts.map(([step = '', after = null]): Deed => {
    const begunBefore = parts.findIndex((each) => each[1] === step)
    const about = { step, class: 'write', operation: step.replace(/\d/, ''), target: null, bytes: null } as const
    return { ...about, after, begunBefore: begunBefore < 0 ? parts.length : begunBefore }
  })
  return { end: { kind: 'completed', text: '', output: null }, deeds }
}
const compare = (before: string, after: string) => {
  const verdict = compareSides(sideOf(before), sideOf(after))
  return verdict.kind === 'differs' ? verdict.changes.map(describeChange) : verdict.kind
}

test('what waited for something is a difference where it comes first, or waits no more', () => {
  expect(compare('copy copy<del', 'del del<copy')).toEqual(['~ order del after copy → before it'])
  expect(compare('copy copy<del', 'copy del')).toEqual(['~ order del after copy → without waiting for it'])
  expect(compare('copy del', 'del del<copy')).toEqual(['~ order copy before del → after it'])
  expect(compare('del1 del1<del2', 'del2 del2<del1')).toEqual(['~ order del one after the other → in another order'])
  expect(compare('del1 del1<del2', 'del1 del2')).toEqual(['~ order del one after the other → without waiting for it'])
})

test('it is found behind effects that one side has alone, and in one of several branches', () => {
  expect(compare('copy copy<note note<del', 'del del<tell tell<copy')).toContain('~ order del after copy → before it')
  const turned = compare('copy1 copy2 copy1<del1 copy2<del2', 'del1 del2 del1<copy1 del2<copy2')
  expect(turned).toEqual(['~ order del after copy → before it'])
})

test('branches that wait for each other on neither side have no order', () => {
  expect(compare('a b', 'b a')).toBe('same')
  expect(compare('a1 b1 a1<a2 b1<b2', 'b1 a1 b1<b2 a1<a2')).toBe('same')
})

test('a run without its order, as a journal of branches has it, is the same as any preview of it', () => {
  const known = fc.array(fc.nat(), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(known, (draws) => {
      const text = draws.map((draw, place) => {
        const first = draw % (place + 1)
        return first === place ? `s${place}` : `s${first}<s${place}`
      })
      const preview = sideOf(text.join(' '))
      const recorded = {
        ...preview,
        deeds: preview.deeds.map(({ begunBefore: _, ...deed }) => ({ ...deed, after: null })),
      }
      expect([compareSides(recorded, preview).kind, compareSides(preview, preview).kind]).toEqual(['same', 'same'])
    }),
  )
})
