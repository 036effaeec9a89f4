import { expect } from 'vitest'
import { z } from 'zod'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { callable } from '../../../src/author/trigger.ts'
import { createTestEngine, test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

/** A parent of `children` runs at once; how often it parked, and its output. */
async function invokeAtOnce(children: number, gatherMs: number) {
  const engine = createTestEngine()
  const child = defineWorkflow({
    id: 'child',
    on: callable(z.number()),
    run: ({ input, step }) => step.run('work', () => input),
  })
  const parent = define('parent', { on: 'file.created' }, ({ step }) => {
    const all = Array.from({ length: children }, (_, index) => step.invoke(['child', index], child, index))
    return Promise.all(all).then((outputs) => outputs.length)
  })
  const worker = await engine.start([parent, child], { slots: 1, gatherMs })
  engine.notices.subscribe('run.queued', () => worker.wake())
  const { id } = await engine.run('parent')
  const isOver = async () => (await engine.store.findRun(id))?.status === 'completed'
  while (!(await isOver())) {
    engine.clock.advance(1)
    worker.wake()
    await new Promise(setImmediate)
  }
  const parks = engine.heard.filter((notice) => notice.kind === 'run.parked' && notice.run === id).length
  return { parks, output: (await engine.store.findRun(id))?.output }
}

test('wake-ups of a run with many open steps within 100 ms are one pass', async () => {
  const gathered = await invokeAtOnce(60, 100)
  const each = await invokeAtOnce(60, 0)
  expect(gathered.output).toBe('60')
  expect(each.output).toBe('60')
  expect(gathered.parks).toBeLessThan(each.parks / 3)
})
