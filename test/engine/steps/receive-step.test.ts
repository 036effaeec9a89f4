import { expect, test } from 'vitest'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import type { StepApi } from '../../../src/author/steps/step-api.ts'
import { testbed } from '../../../src/testing/testbed.ts'
import { moved, transfer } from '../support/transfer-waits.ts'

const next = (step: StepApi, name: string, timeout = '1h' as const) =>
  step.receive(name, { on: moved, where: { transfer: 't1' }, timeout }).then((event) => event?.data.path ?? null)

/** Takes events of transfer t1 until one asks it to stop, with `between` after each. */
const collector = (between: (step: StepApi) => Promise<unknown> = async () => {}) =>
  defineWorkflow({
    id: 'collector',
    on: 'go',
    run: async ({ step }) => {
      const taken: (string | null)[] = []
      for (;;) {
        const path = await next(step, 'next')
        taken.push(path)
        if (path === null || path === '/stop') return taken
        await between(step)
      }
    },
  })

const paths = (count: number) => Array.from({ length: count }, (_, index) => `/${index}`)

test('each matching event is received once, in order, even if it came while the code was elsewhere', async () => {
  const workflow = collector((step) => step.sleep('elsewhere', '1m'))
  await using t = await testbed({ workflows: [workflow] })
  await t.send(moved, transfer('t1', '/before'))
  await t.send('go')
  for (const path of paths(5)) {
    await t.send(moved, transfer('t2', `/other${path}`))
    await t.send(moved, transfer('t1', path))
  }
  await t.advance('3m')
  await t.send(moved, transfer('t1', '/stop'))
  await t.advance('3m')
  expect(t.run(workflow)).toMatchObject({ status: 'completed', output: [...paths(5), '/stop'] })
})

test('a burst of 200 events is received without loss, in a few passes', async () => {
  let passes = 0
  const workflow = collector()
  const run: typeof workflow.run = (context) => {
    passes += 1
    return workflow.run(context)
  }
  const counted = { ...workflow, run }
  await using t = await testbed({ workflows: [counted] })
  await t.send('go')
  await Promise.all([...paths(200), '/stop'].map((path) => t.send(moved, transfer('t1', path))))
  expect(t.run(counted)).toMatchObject({ status: 'completed' })
  expect(new Set(t.run(counted).output as string[])).toEqual(new Set([...paths(200), '/stop']))
  expect(passes).toBeLessThan(60)
})

test('receive returns null after its timeout, and the next call takes what comes then', async () => {
  const workflow = defineWorkflow({
    id: 'patient',
    on: 'go',
    run: async ({ step }) => [await next(step, 'first', '1h'), await next(step, 'second', '1h')],
  })
  await using t = await testbed({ workflows: [workflow] })
  await t.send('go')
  await t.advance('1h')
  await t.send(moved, transfer('t1', '/late'))
  expect(t.run(workflow)).toMatchObject({ status: 'completed', output: [null, '/late'] })
})

test('calls at the same time take different events', async () => {
  const workflow = defineWorkflow({
    id: 'parallel',
    on: 'go',
    run: async ({ step }) => {
      const taken = await Promise.all([next(step, 'a'), next(step, 'b'), next(step, 'c')])
      await step.sleep('nap', '1m')
      return [...taken, await next(step, 'd')]
    },
  })
  await using t = await testbed({ workflows: [workflow] })
  await t.send('go')
  for (const path of paths(4)) await t.send(moved, transfer('t1', path))
  await t.advance('1m')
  const { status, output } = t.run(workflow)
  expect(status).toBe('completed')
  expect([...(output as string[])].sort()).toEqual(paths(4))
})

test('a retry goes on behind the events that its steps took, and a fork counts from its own start', async () => {
  let isBroken = true
  const workflow = defineWorkflow({
    id: 'breaks',
    on: 'go',
    run: async ({ step }) => {
      const first = await next(step, 'first')
      const check = () => {
        if (isBroken) throw new Error('broken')
      }
      await step.run('check', check, { retry: { attempts: 1 } })
      return [first, await next(step, 'second')]
    },
  })
  await using t = await testbed({ workflows: [workflow] })
  await t.send('go')
  for (const path of paths(2)) await t.send(moved, transfer('t1', path))
  const failed = t.run(workflow)
  expect(failed.status).toBe('failed')
  isBroken = false
  expect(await t.retry(failed)).toMatchObject({ status: 'completed', output: paths(2) })
  const fork = await t.fork(failed, { from: 'second' })
  expect(fork.status).toBe('waiting')
})

test('a receive in an earlier wait of the same name diverges', async () => {
  const code = (verb: 'waitFor' | 'receive') =>
    defineWorkflow({
      id: 'changed',
      on: 'go',
      run: async ({ step }) => {
        const options = { on: moved, timeout: '1h' } as const
        await (verb === 'receive' ? step.receive('event', options) : step.waitFor('event', options))
      },
    })
  await using t = await testbed({ workflows: [code('waitFor')] })
  await t.send('go')
  await t.restart({ workflows: [code('receive')] })
  await t.advance('1h')
  expect(t.run('changed')).toMatchObject({
    status: 'waiting',
    reason: expect.stringContaining('was a `wait` and is a `receive` now'),
  })
})

test('a call that a person let go on by name does not take what an unreached call has taken', async () => {
  const before = defineWorkflow({
    id: 'reordered',
    on: 'go',
    run: async ({ step }) => {
      const taken = await Promise.all([next(step, 'a'), next(step, 'b')])
      await step.sleep('nap', '1h')
      return taken
    },
  })
  const after = defineWorkflow({
    id: 'reordered',
    on: 'go',
    run: async ({ step }) => {
      const fresh = await Promise.all([next(step, 'c'), next(step, 'd')])
      return [...fresh, await next(step, 'a'), await next(step, 'b'), (await step.sleep('nap', '1h')) ?? null]
    },
  })
  for (const size of [0, 5_000]) {
    await using t = await testbed({ workflows: [before] })
    await t.send('go')
    for (const path of paths(2)) await t.send(moved, transfer('t1', path + '.'.repeat(size)))
    await t.restart({ workflows: [after] })
    await t.advance('1h')
    expect(t.run(after).reason).toMatch(/^diverged: /)
    await t.resume(t.run(after))
    for (const path of ['/2', '/3']) await t.send(moved, transfer('t1', path))
    const all = t.run(after).output as string[]
    expect(all.map((path) => path?.slice(0, 2))).toEqual(['/2', '/3', '/0', '/1', undefined])
  }
})
