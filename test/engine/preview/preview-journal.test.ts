import { expect, test } from 'vitest'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import type { RunContext } from '../../../src/author/index.ts'
import type { AnyWorkflow } from '../../../src/author/workflow.ts'
import { goesOn, previewRun } from '../../../src/engine/preview/preview-run.ts'
import { NOW } from '../../support/fixtures.ts'
import { createTestEngine } from '../../support/test-engine.ts'
import { filesOf } from '../support/files-in-runs.ts'
import { previewParts, readRecording } from '../support/previews.ts'

type Run = (context: RunContext) => Promise<unknown>
const define = (run: Run, options: Partial<AnyWorkflow> = {}) =>
  defineWorkflow({ id: 'w', on: '*', run, ...(options as object) }) as AnyWorkflow
const called: string[] = []
const act = (name: string) => () => void called.push(name)

const first: Run = async ({ step }) => {
  await step.run('reserve', act('reserve'))
  await step.sleep('nap', '1d')
  await step.run('pay', act('pay'))
}

/** Lets `before` wait as a run, and gives how it would go on with `after`. */
async function judge(after: AnyWorkflow, before: AnyWorkflow = define(first), now = NOW) {
  const engine = createTestEngine()
  await engine.start([before], { filesFor: filesOf({}) })
  const run = await engine.run('w')
  expect(run.status).toBe('waiting')
  called.length = 0
  const recording = await readRecording(engine.store, run.id)
  const { end } = await previewRun(previewParts(engine.store), after, recording, { readsLive: false, journalAt: now })
  expect(called).toEqual([])
  expect(await readRecording(engine.store, run.id)).toEqual(recording)
  if (goesOn(end)) return 'fits'
  if (end.kind === 'failed') return `${end.error.name}: ${end.error.message}`
  return 'reason' in end ? `${end.kind}: ${end.reason}` : end.kind
}

test('a run fits the code that began it, also where its wait is long over', async () => {
  expect(await judge(define(first))).toBe('fits')
  expect(await judge(define(first), undefined, NOW + 9 * 86_400_000)).toBe('fits')
})

test('code that only changes what comes later fits', async () => {
  const later = define(async ({ step }) => {
    await step.run('reserve', act('reserve'))
    await step.sleep('nap', '1d')
    await step.run('charge', act('charge'))
  })
  expect(await judge(later)).toBe('fits')
})

test('a step that is gone, another kind, and another effect diverge', async () => {
  const without = define(({ step }) => step.sleep('nap', '1d'))
  expect(await judge(without)).toContain('"reserve" (run) was expected')
  const kind = define(({ step }) => step.sleep('reserve', '1d'))
  expect(await judge(kind)).toContain('was a `run` and is a `sleep`')
  const effect = define(({ step }) => step.run('reserve', act('reserve'), { effect: 'read' }))
  expect(await judge(effect)).toContain('effect `write`')
})

test('code that returns before a recorded step diverges', async () => {
  expect(await judge(define(async () => null))).toMatch(/^halted: diverged: /)
})

test('code that throws before it comes further fails', async () => {
  const broken = define(async ({ step }) => {
    await step.run('reserve', act('reserve'))
    throw new TypeError('x is not a function')
  })
  expect(await judge(broken)).toBe('TypeError: x is not a function')
})

test('a timeout that is over now does not fit, and a `where` is asked no more of a run under way', async () => {
  const narrow = { where: () => false }
  expect(await judge(define(first, narrow))).toBe('fits')
  // It waits for a person before it begins.
  const broken = define(first, { where: () => JSON.parse('') })
  expect(await judge(define(first, narrow), broken)).toMatch(/^skipped/)
  const short = define(first, { timeout: { run: '1h' } })
  expect(await judge(short, undefined, NOW + 2 * 3_600_000)).toContain('timeout.run')
  expect(await judge(short, undefined, NOW + 1_000)).toBe('fits')
})

test('runs that wait for an event, a run or people fit', async () => {
  const child = defineWorkflow({ id: 'child', on: 'other', run: ({ step }) => step.sleep('nap', '1d') })
  const waits: Run[] = [
    ({ step }) => step.waitFor('go', { on: 'file.moved', timeout: '1d' }),
    ({ step }) => step.receive('go', { on: 'file.moved', timeout: '1d' }),
    ({ step }) => step.invoke('call', child, { data: {} }),
    ({ step }) => step.approve('ask', { ask: 'Shall I?' }),
  ]
  for (const wait of waits) {
    const workflow = define(async (context) => {
      await context.step.run('first', act('first'))
      return wait(context)
    })
    expect(await judge(workflow, workflow)).toBe('fits')
    const changed = define(({ step }) => step.run('another', act('another')))
    expect(await judge(changed, workflow)).toMatch(/^halted: diverged: /)
  }
})

test.each(['waitFor', 'receive'] as const)('a `%s` whose event is another now keeps the old one', async (verb) => {
  const wait = (on: string, name = 'go') =>
    define(async ({ step }) => {
      await step.run('first', act('first'))
      const options = { on, timeout: '1d' } as const
      return verb === 'receive' ? step.receive(name, options) : step.waitFor(name, options)
    })
  const kept =
    /^halted: keeps its wait: step "go" still waits for file\.moved, and the code asks for file\.renamed at .*:\d+:\d+$/
  expect(await judge(wait('file.renamed'), wait('file.moved'))).toMatch(kept)
  expect(await judge(wait('file.renamed', 'renamed'), wait('file.moved'))).toBe('fits')
})
