import { expect } from 'vitest'
import { z } from 'zod'
import { callable, defineWorkflow } from '../../../src/author/index.ts'
import { testbed } from '../../../src/testing/index.ts'
import { awaitStatus } from '../../support/await-runs.ts'
import { test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'

const verdict = z.object({ verdict: z.enum(['clean', 'infected']) })
const CLEAN = { verdict: 'clean' }

/** Orders a scan, and waits for its answer; keeps what the order was given. */
function scanning(urls: string[] = []) {
  return define('scanning', { on: 'file.created' }, async ({ step }) => {
    const scan = await step.hook('scan', { data: verdict, expires: '2h' })
    await step.run('order', async () => void urls.push(scan.url), { effect: 'write' })
    const answer = await step.waitFor('scanned', scan)
    return answer && { verdict: answer.data.verdict, by: answer.by, at: answer.receivedAt }
  })
}

/** Takes answers until one says that it is the last, or the hook expires. */
const counting = define('counting', { on: 'file.created' }, async ({ step }) => {
  const hook = await step.hook('parts', { data: z.number(), expires: '1h', many: true })
  const parts: (number | null)[] = []
  for (let at = 0; at < 4; at++) {
    const answer = await step.receive(['part', at], hook)
    parts.push(answer === null ? null : answer.data)
    if (answer === null) break
    await step.sleep(['rest', at], '1m')
  }
  return parts
})

test('a hook that nobody answers gives null once it has expired, and takes no answer then', async () => {
  await using t = await testbed({ workflows: [scanning()] })
  await t.send('file.created')
  await t.advance('2h')
  expect(t.run('scanning')).toMatchObject({ status: 'completed', output: null })
  await expect(t.answer(t.run('scanning'), 'scan', CLEAN)).rejects.toMatchObject({ code: 'conflict' })
})

test('step.receive takes each answer of a hook with `many` once, in order, also those that are alike', async () => {
  await using t = await testbed({ workflows: [counting] })
  await t.send('file.created')
  for (const part of [1, 1, 2]) await t.answer(t.run('counting'), 'parts', part)
  for (let minute = 0; minute < 3; minute++) await t.advance('1m')
  expect(t.run('counting').status).toBe('waiting')
  await t.advance('1h')
  expect(t.run('counting').output).toEqual([1, 1, 2, null])
})

test('the URL is the same in each replay, after a restart of the engine and after a retry', async () => {
  const urls: string[] = []
  const state = { isBroken: true }
  const failing = define('failing', { on: 'file.created' }, async ({ step }) => {
    const hook = await step.hook('go', { expires: '2h' })
    urls.push(hook.url)
    await step.sleep('nap', '1m')
    const answer = await step.waitFor('gone', hook)
    await step.run(
      'use',
      () => {
        if (state.isBroken) throw new Error('broken')
      },
      { retry: { attempts: 1 } },
    )
    return answer?.data
  })
  await using t = await testbed({ workflows: [failing] })
  await t.send('file.created')
  await t.restart()
  await t.advance('1m')
  await t.answer(t.run('failing'), 'go', 7)
  await t.advance('10m')
  expect(t.run('failing').status).toBe('failed')
  await expect(t.answer(t.run('failing'), 'go', 8)).rejects.toMatchObject({ code: 'conflict' })
  state.isBroken = false
  await t.retry(t.run('failing'))
  expect(t.run('failing')).toMatchObject({ status: 'completed', output: 7 })
  expect(urls.length).toBeGreaterThan(2)
  expect(new Set(urls).size).toBe(1)
})

test('a fork behind the hook has its URL and its answer; one at the hook opens another', async () => {
  const urls: string[] = []
  await using t = await testbed({ workflows: [scanning(urls)] })
  await t.send('file.created')
  const first = t.run('scanning')
  const early = await t.fork(first, { from: 'scanned' })
  await t.answer(first, 'scan', CLEAN)
  const [answered, woken] = [t.runs('scanning')[0], t.runs('scanning').find(({ id }) => id === early.id)]
  expect([answered?.output, woken?.output]).toMatchObject([CLEAN, CLEAN])
  const late = await t.fork(first, { from: 'scanned' })
  expect(late).toMatchObject({ status: 'completed', output: CLEAN })
  const anew = await t.fork(first, { from: 'scan' })
  expect(anew.status).toBe('waiting')
  expect(new Set(urls).size).toBe(2)
  await t.answer(anew, 'scan', { verdict: 'infected' })
  expect(t.runs('scanning').at(-1)?.output).toMatchObject({ verdict: 'infected' })
})

test('data that only a refinement refuses halts the run; from scratch it opens another hook', async () => {
  const urls: string[] = []
  const refining = defineWorkflow({
    id: 'refining',
    on: callable(z.object({})),
    run: async ({ step }) => {
      const hook = await step.hook('go', { expires: '2h', data: z.string().refine((text) => text !== 'old') })
      await step.run('order', async () => void urls.push(hook.url))
      return (await step.waitFor('gone', hook))?.data
    },
  })
  await using t = await testbed({ workflows: [refining] })
  const run = await t.start(refining, {})
  await t.answer(run, 'go', 'old')
  expect(t.run('refining')).toMatchObject({ status: 'waiting', reason: expect.stringContaining('step "gone"') })
  await t.resume(run, { restart: true })
  await t.answer(run, 'go', 'new')
  expect(t.run('refining').output).toBe('new')
  expect(new Set(urls).size).toBe(2)
})

test('options and waits that do not fit fail the step with what to do', async () => {
  type Loose = Record<'hook' | 'waitFor' | 'receive', (name: string, given: unknown) => Promise<{ id: string }>>
  const uses: Record<string, (step: Loose) => Promise<unknown>> = {
    'no-time': (step) => step.hook('go', {}),
    'no-scheme': (step) => step.hook('go', { expires: '1h', sign: { scheme: 'none', secret: 'x' } }),
    'no-secret': (step) => step.hook('go', { expires: '1h', sign: { scheme: 'hex', secret: '' } }),
    'no-ask': (step) => step.hook('go', { expires: '1h', ask: '' }),
    'no-schema': (step) => step.hook('go', { expires: '1h', data: z.date() }),
    'a-copy': async (step) => step.waitFor('gone', { ...(await step.hook('go', { expires: '1h' })) }),
    'a-stream': async (step) => step.receive('gone', await step.hook('go', { expires: '1h' })),
  }
  const workflows = Object.entries(uses).map(([id, use]) =>
    define(id, { on: 'file.created', retry: { attempts: 1 } }, ({ step }) => use(step as never)),
  )
  await using t = await testbed({ workflows })
  await t.send('file.created')
  const messages = workflows.map(({ id }) => [id, t.run(id).error?.message])
  expect(Object.fromEntries(messages)).toEqual({
    'no-time': expect.stringContaining('expires'),
    'no-scheme': expect.stringContaining('standard-webhooks'),
    'no-secret': expect.stringContaining('sign.secret'),
    'no-ask': expect.stringContaining('1 to 500 characters'),
    'no-schema': expect.stringContaining('no JSON Schema'),
    'a-copy': expect.stringContaining('no copy'),
    'a-stream': expect.stringContaining('use step.waitFor'),
  })
})

test('without a public URL the step fails with the setting to set', async ({ engine }) => {
  await engine.start([scanning()])
  const run = await engine.run('scanning')
  const failed = await awaitStatus(engine, run.id, 'failed', 'waiting')
  expect(failed.error?.message ?? failed.reason).toContain('UPSHOT_PUBLIC_URL')
})
