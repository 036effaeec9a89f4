import { expect, test } from 'vitest'
import { z } from 'zod'
import { callable, defineWorkflow } from '../../src/author/index.ts'
import { testbed } from '../../src/testing/index.ts'
import { define } from '../support/workflows.ts'

let isBroken = true

const archive = define('archive', { on: 'go', retry: { attempts: 1 } }, async ({ step }) => {
  const file = await step.run('read', () => 'report.txt')
  await step.run('copy', () => (isBroken ? Promise.reject(new Error('full')) : `copy of ${file}`))
  await step.sleep('rest', '1h')
  return file
})

const greet = defineWorkflow({
  id: 'greet',
  on: callable(z.object({ name: z.string() })),
  run: ({ input, step }) => step.run('greet', () => `Hello ${input.name}`),
})

async function openAt(state: 'broken' | 'whole') {
  isBroken = state === 'broken'
  const t = await testbed({ workflows: [archive, greet] })
  await t.send('go')
  return t
}

test('a testbed retries a failed run from its failed step', async () => {
  await using t = await openAt('broken')
  expect(t.run(archive).status).toBe('failed')
  isBroken = false
  expect(await t.retry(t.run(archive))).toMatchObject({ status: 'waiting' })
  expect(t.run(archive).steps()).toMatchObject([{ key: 'read', attempt: 1 }, { key: 'copy' }, { key: 'rest' }])
  await expect(t.retry(t.run(archive).id)).rejects.toThrow(/cannot be retried: it is waiting/)
})

test('a cancel runs no code of a run that waits, and throws in the run that invoked it', async () => {
  const heard: string[] = []
  const child = defineWorkflow({
    id: 'child',
    on: callable(z.object({})),
    cancelOn: { on: 'stop' },
    async run({ step }) {
      try {
        await step.sleep('rest', '1h')
      } catch {
        heard.push('catch')
      } finally {
        heard.push('finally')
      }
    },
    onFailure: () => void heard.push('onFailure'),
  })
  const parent = define('parent', { on: 'go' }, async ({ step }) => {
    await step.invoke('child', child, {}, { timeout: '1d' }).catch(() => heard.push('undo'))
  })
  await using t = await testbed({ workflows: [child, parent] })
  await t.send('go')
  await t.send('stop')
  expect(t.run(child).status).toBe('canceled')
  await t.send('go')
  await t.cancel(t.run(child))
  expect(heard).toEqual(['undo', 'undo'])
})

test('a testbed cancels a waiting run, which then cannot be canceled again', async () => {
  await using t = await openAt('whole')
  expect(await t.cancel(t.run(archive), 'no need')).toMatchObject({ status: 'canceled', reason: 'no need' })
  await expect(t.cancel(t.run(archive))).rejects.toMatchObject({ code: 'conflict' })
})

test('a testbed forks a run with the results before a step, and a result by hand', async () => {
  await using t = await openAt('broken')
  const origin = t.run(archive)
  const forked = await t.fork(origin, { from: 'copy', output: 'by hand' })
  expect(forked).toMatchObject({ workflow: 'archive', status: 'waiting' })
  expect(forked.steps()).toMatchObject([{ output: 'report.txt' }, { output: 'by hand' }, { key: 'rest' }])
  expect(t.runs(archive)).toHaveLength(2)
})

test('a testbed pauses a workflow, whose runs then go on after the pause', async () => {
  await using t = await openAt('whole')
  await t.pause(archive)
  const { runs } = await t.send('go')
  expect(runs).toMatchObject([{ status: 'waiting', reason: 'the workflow is paused' }])
  await t.unpause(archive)
  await t.advance('1h')
  expect(t.runs(archive).map(({ status }) => status)).toEqual(['completed', 'completed'])
})

test('a testbed starts a callable workflow with its input', async () => {
  await using t = await openAt('whole')
  expect(await t.start(greet, { name: 'Ada' })).toMatchObject({ status: 'completed', output: 'Hello Ada' })
})

test('a testbed resumes a run that waits for a person, once its code is mended', async () => {
  const judge = (where: () => boolean) => defineWorkflow({ id: 'judge', on: 'go', where, run: () => 'judged' })
  const broken = judge(() => {
    throw new Error('no opinion')
  })
  await using t = await testbed({ workflows: [broken] })
  await t.send('go')
  expect(t.run('judge')).toMatchObject({ status: 'waiting', dueAt: null })
  await t.restart({ workflows: [judge(() => true)] })
  expect(await t.resume(t.run('judge'))).toMatchObject({ status: 'completed', output: 'judged' })
  await expect(t.resume(t.run('judge'))).rejects.toThrow(/cannot be resumed: it is completed/)
})

test('two workers of one slot each have two runs at work at once', async () => {
  const bothBegun = Promise.withResolvers<void>()
  let begun = 0
  const meeting = define('meeting', { on: 'go' }, ({ step }) =>
    step.run('meet', async () => {
      if (++begun === 2) bothBegun.resolve()
      await bothBegun.promise
    }),
  )
  await using t = await testbed({ workflows: [meeting], workers: 2, slots: 1 })
  await Promise.all([t.send('go'), t.send('go')])
  expect(t.runs(meeting).map(({ status }) => status)).toEqual(['completed', 'completed'])
})
