import { expect, test } from 'vitest'
import { describeLimit, folderLimit, planLimits } from '../../../../src/core/safety/guard.ts'
import type { Deed } from '../../../../src/engine/preview/compare/deed.ts'
import { addHeldBy, readHeldBy } from '../../../../src/engine/preview/compare/held.ts'
import { findHeld } from '../../../../src/engine/preview/find-held.ts'
import type { PreviewedEffect } from '../../../../src/engine/preview/previewed.ts'

const source = { runId: 'run_1', workflow: 'tidy', account: 'default' }
const limits = { all: {}, account: {}, storage: {}, workflow: { deletes: { perRun: 2 } } }
const remove = (id: string, part: Partial<PreviewedEffect> = {}): PreviewedEffect => ({
  step: id,
  kind: 'run',
  class: 'delete',
  operation: 'files.delete',
  target: `storage_a:${id}`,
  source: 'recorded',
  dueAt: null,
  asked: null,
  expect: null,
  listed: [],
  body: null,
  isFolderAllowed: false,
  list: null,
  outcome: 'deleted',
  after: null,
  begunBefore: null,
  ...part,
})
const deedOf = ({ step, operation, target }: PreviewedEffect): Deed => ({
  step,
  class: 'delete',
  operation,
  target,
  bytes: null,
  expect: null,
  content: null,
})
const heldByOf = (effects: PreviewedEffect[], recorded: Deed[] = []) => {
  const side = { end: { kind: 'completed', text: '', output: null } as const, deeds: effects.map(deedOf) }
  return addHeldBy(side, effects, { limits, own: undefined, source, recorded }).deeds.map(({ heldBy }) => heldBy)
}

test('effects beyond a limit of one run are held, and a file that was left alone fills none', () => {
  const held = 'held by guard.workflow.deletes.perRun'
  expect(heldByOf(['a', 'b', 'c'].map((id) => remove(id)))).toEqual([null, null, held])
  expect(heldByOf([remove('a', { outcome: 'changed' }), remove('b'), remove('c')])).toEqual([null, null, null])
  expect(heldByOf([remove('a', { isFolderAllowed: true })])).toEqual(['held: a folder always asks'])
})

test('two settings that bound one counter count an effect once, in a plan as well', () => {
  const both = { ...limits, all: { deletes: { perRun: 9 } }, workflow: { deletes: { perRun: 4 } } }
  const effects = [remove('x', { outcome: 'not_found' }), ...['a', 'b', 'c', 'd', 'e'].map((id) => remove(id))]
  const held = findHeld(effects, { limits: both, own: undefined, source, use: [] })
  expect(held.map(({ step }) => step)).toEqual(['e'])
})

test('effects of one list are held together, and then fill no limit', () => {
  const effects = [remove('a'), ...['b', 'c'].map((id) => remove(id, { list: 'b' })), remove('d')]
  const held = findHeld(effects, { limits, own: undefined, source, use: [] })
  expect(held.map(({ step }) => step)).toEqual(['b', 'c'])
})

test('an effect of which no recording tells what held it has none to compare, and fills no limit', () => {
  const [unknown, ...others] = ['a', 'b', 'c'].map((id) => remove(id))
  expect(heldByOf([unknown as PreviewedEffect, ...others], [deedOf(unknown as PreviewedEffect)])).toEqual([
    undefined,
    null,
    null,
  ])
})

test('the words of every limit of one run name their setting, and those of an hour say nothing of a run', () => {
  const own = { deletes: { perRun: 1, perHour: 2, share: 0.5 }, bytes: { perRun: 9, perDay: 9 } }
  const planned = planLimits(limits, own, {
    source: { ...source, storage: 'storage_a' },
    effect: 'delete',
    listed: [{ folder: '/', listed: 4 }],
  })
  expect(planned.map((limit) => readHeldBy(`approval apr_1 was denied: ${describeLimit(limit)}`, false))).toEqual([
    'held by guard of tidy.deletes.perRun',
    undefined,
    'held by guard of tidy.bytes.perRun',
    undefined,
    'held by guard of tidy.deletes.share',
  ])
  expect(readHeldBy(describeLimit(folderLimit(source)), false)).toBe('held: a folder always asks')
  expect(readHeldBy('the key may not delete in storage_c (403)', true)).toBeUndefined()
})
