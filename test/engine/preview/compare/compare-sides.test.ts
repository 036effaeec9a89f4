import { expect, test } from 'vitest'
import { compareSides, describeChange, differencesOf } from '../../../../src/engine/preview/compare/compare-sides.ts'
import type { Deed, Ending, RunSide } from '../../../../src/engine/preview/compare/deed.ts'
import { sideOfPreview, sideOfRecording } from '../../../../src/engine/preview/compare/run-side.ts'
import { checkpoint } from '../../../support/fixtures.ts'

const done: Ending = { kind: 'completed', text: '', output: null }
const open: Ending = { kind: 'open', text: 'step "look[fil_1]": no recorded answer to this read', output: null }
const note = (part: Partial<Deed> = {}): Deed => ({
  step: 'note',
  class: 'write',
  operation: 'note',
  target: null,
  bytes: null,
  expect: null,
  content: null,
  ...part,
})
const remove = (id: string, part: Partial<Deed> = {}): Deed => ({
  ...note({ class: 'delete', operation: 'files.delete', target: `storage_a:${id}`, bytes: 5 }),
  step: `files.delete[storage_a:${id}]`,
  ...part,
})
const side = (deeds: Deed[], end = done): RunSide => ({ deeds, end })
const texts = (...given: Parameters<typeof compareSides>) => {
  const verdict = compareSides(...given)
  return verdict.kind === 'differs' ? verdict.changes.map(describeChange) : verdict.kind
}

test('the order of effects that wait for none, and of properties, makes no difference', () => {
  const one = side([remove('fil_1'), note({ content: '{"a":1,"b":{"c":1,"d":2}}' })])
  const other = side([note({ content: '{"b":{"d":2,"c":1},"a":1}' }), remove('fil_1')])
  expect(compareSides(one, other)).toEqual({ kind: 'same' })
})

test('another file is another delete, even where the count is the same', () => {
  expect(texts(side([remove('fil_1')]), side([remove('fil_2')]))).toEqual([
    '+ delete files.delete storage_a',
    '- delete files.delete storage_a',
  ])
})

test('a recorded invoke is compared by its workflow and input, where they are known', () => {
  const run = { status: 'completed', error: null, reason: null, continuedBy: null } as never
  const steps = [checkpoint('count', { kind: 'invoke', effect: 'write', target: 'run_7' })]
  const content = '{"n":1}'
  const fresh = side([note({ step: 'count', class: 'invoke', operation: 'count', target: 'count-lines', content })])
  const compare = (request: object) =>
    texts(sideOfRecording({ run, steps }, [{ step: 'count', ...request }], null), fresh)
  expect(compare({ target: 'count-lines', content })).toBe('same')
  expect(compare({})).toBe('same')
  expect(compare({ target: 'count-words', content })).toEqual(['~ invoke count count-lines count-words → count-lines'])
  expect(compare({ target: 'count-lines', content: '{"n":2}' })).toEqual([
    '~ invoke count count-lines `data` → other `data`: n',
  ])
})

test('the URL of a hook is that of its preview, also where the record masks it', () => {
  const address = `https://upshot.example.com/callbacks/${'0'.repeat(26)}`
  const [url, masked] = [address + '1'.repeat(32), `${address}…`]
  const run = { status: 'completed', error: null, reason: null, continuedBy: null } as const
  const steps = [checkpoint('note', { target: url })]
  const request = { step: 'note', expect: null, content: JSON.stringify({ masked }) }
  // A recorded answer gives the code the real one.
  const seen = `https://callbacks.invalid/hok_${'0'.repeat(26)}`
  const answered = sideOfPreview({
    end: { kind: 'completed', output: JSON.stringify({ url }) },
    effects: [{ ...note({ target: url, content: '' }), asked: { input: { masked } } } as never],
  })
  const recorded = sideOfRecording({ run: run as never, steps }, [request], JSON.stringify({ url }))
  const previewed = side([note({ target: seen, content: JSON.stringify({ masked: seen }) })], {
    ...done,
    output: JSON.stringify({ url: seen }),
  })
  expect(compareSides(recorded, previewed, { withOutputs: true })).toEqual({ kind: 'same' })
  expect(compareSides(recorded, answered, { withOutputs: true })).toEqual({ kind: 'same' })
})

test('what is not known is not compared', () => {
  const unknown = note({ content: undefined, expect: undefined })
  expect(texts(side([unknown]), side([note({ content: '{"a":1}' })]))).toBe('same')
})

test('an open preview is never the same, and what it has not reached is not missing', () => {
  expect(compareSides(side([note()]), side([], open))).toEqual({
    kind: 'unknown',
    question: 'step "look[…]": no recorded answer to this read',
  })
  expect(texts(side([]), side([note()], open))).toEqual(['+ write note'])
})

test('what follows a cancel is not known: only what is missing before it counts', () => {
  const canceled: Ending = { kind: 'canceled', text: 'by hand', output: null }
  expect(texts(side([remove('fil_1')], canceled), side([remove('fil_1'), note()]), { isCut: true })).toBe('same')
  expect(texts(side([remove('fil_1')], canceled), side([remove('fil_1')], open), { isCut: true })).toBe('same')
  expect(texts(side([remove('fil_1')], canceled), side([]), { isCut: true })).toEqual([
    '- delete files.delete storage_a',
  ])
})

test('many runs that differ alike are one group, whatever their ids', () => {
  const keys = [7, 12].map((n) => {
    const failed: Ending = { kind: 'failed', text: `Error: no file fil_${n} of ${n} bytes`, output: null }
    const verdict = compareSides(side([]), side([remove(`fil_${n}`)], failed))
    return differencesOf(verdict, { run: `run_${n}`, event: null }).groups
  })
  expect(keys[0]).toMatchObject([
    {
      key: '+ delete files.delete storage_a; ~ end completed → failed: Error: no file fil_… of N bytes',
      count: 1,
      bytes: 5,
      samples: [{ run: 'run_7' }],
    },
  ])
  expect(keys[1]?.[0]?.key).toBe(keys[0]?.[0]?.key)
})
