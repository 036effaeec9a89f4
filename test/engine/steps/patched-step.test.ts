import { expect } from 'vitest'
import type { StepApi } from '../../../src/author/steps/step-api.ts'
import { previewRun } from '../../../src/engine/preview/preview-run.ts'
import { createTestEngine, test } from '../../support/test-engine.ts'
import { changeCode, define } from '../../support/workflows.ts'
import { previewParts, readRecording } from '../support/previews.ts'

const flow = (run: (step: StepApi) => Promise<unknown>) => define('flow', ({ step }) => run(step))

/** Code of before a change, and after it: an audit before the nap. */
const codes = (acted: string[]) => {
  const act = (step: StepApi, name: string) => step.run(name, () => void acted.push(name))
  const before = flow(async (step) => {
    await act(step, 'pay')
    await step.sleep('nap', '1m')
    await act(step, 'ship')
    return 'before'
  })
  const after = flow(async (step) => {
    await act(step, 'pay')
    const isAudited = await step.patched('audit-2026')
    if (isAudited) await act(step, 'audit')
    await step.sleep('nap', '1m')
    await act(step, 'ship')
    if (await step.patched('audit-2026')) await act(step, 'file audit')
    return isAudited
  })
  /** The marker is taken out; another one comes behind its place. */
  const cleared = flow(async (step) => {
    await act(step, 'pay')
    await act(step, 'audit')
    await step.sleep('nap', '1m')
    await act(step, 'ship')
    await act(step, 'file audit')
    return step.patched('audit-2027')
  })
  return { before, after, cleared }
}

test('a run that had passed a marker before the change goes on without it', async () => {
  const acted: string[] = []
  const { before, after } = codes(acted)
  const engine = createTestEngine()
  const worker = await engine.start([before])
  const { id } = await engine.run('flow')
  await changeCode(engine, worker, [after])
  expect(await engine.advance(id, '1m')).toMatchObject({ status: 'completed', output: 'false' })
  expect(acted).toEqual(['pay', 'ship'])
})

test('a run that comes to a marker live goes by the change, in every later pass, too', async () => {
  const acted: string[] = []
  const { after } = codes(acted)
  const engine = createTestEngine()
  await engine.start([after])
  const { id } = await engine.run('flow')
  expect(await engine.advance(id, '1m')).toMatchObject({ status: 'completed', output: 'true' })
  expect(acted).toEqual(['pay', 'audit', 'ship', 'file audit'])
  expect((await engine.store.listSteps(id)).map(({ key }) => key)).toContain('patched[audit-2026]')
})

test('a run that answered true to a marker goes on where the marker is taken out, and comes to others', async () => {
  const acted: string[] = []
  const { after, cleared } = codes(acted)
  const engine = createTestEngine()
  const worker = await engine.start([after])
  const { id } = await engine.run('flow')
  const recording = await readRecording(engine.store, id)
  const previewed = await previewRun(previewParts(engine.store), cleared, recording, {
    readsLive: false,
    journalAt: engine.clock.now(),
  })
  expect(previewed.end.kind).toBe('open')
  await changeCode(engine, worker, [cleared])
  expect(await engine.advance(id, '1m')).toMatchObject({ status: 'completed', output: 'true' })
  expect(acted).toEqual(['pay', 'audit', 'ship', 'file audit'])
})

test('a marker moves neither the time nor the other branches of its code', async ({ engine }) => {
  const seen: unknown[] = []
  await engine.serve('flow', async ({ step, now }) => {
    const order: string[] = []
    const plain = async () => {
      for (let each = 0; each < 5; each++) await null
      order.push('plain')
    }
    const mark = step.patched('audit').then(() => order.push(`marked ${now()}`))
    await Promise.all([plain(), mark, step.run('act', () => {}).then(() => order.push('acted'))])
    seen.push(order)
    await step.sleep('nap', '1m')
    return order
  })
  const { id, createdAt } = await engine.run('flow')
  await engine.advance(id, '1m')
  const order = [`marked ${createdAt}`, 'plain', 'acted']
  expect(seen).toEqual([order, order])
})
