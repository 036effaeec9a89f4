import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { crashEverywhere, type Testbed } from '../../src/testing/index.ts'
import { define } from '../support/workflows.ts'

const workflow = define('careful', { on: 'go' }, async ({ step, run }) => {
  const sent = await step.run('send', ({ idempotencyKey }) => idempotencyKey)
  await step.sleep('pause', '1h')
  await step.run('confirm', () => 'confirmed')
  return { run: run.id, sent }
})

async function follow(t: Testbed) {
  await t.send('go')
  await t.advance('1h')
  return t.run(workflow)
}

test('crashEverywhere crashes before and after each write and reaches the same end', async () => {
  const statuses: string[] = []
  const report = await crashEverywhere({ workflows: [workflow] }, async (t) => {
    const run = await follow(t)
    statuses.push(run.status)
    expect(t.effects().map(({ key }) => key)).toEqual(['send', 'confirm'])
    return run.output
  })
  // send, pause, park, pause again, confirm, complete.
  expect(report).toMatchObject({ writes: 6, crashes: 12 })
  expect(statuses).toEqual(Array(13).fill('completed'))
})

test('crashEverywhere names the write whose crash repeats an effect', async () => {
  const alerts: string[] = []
  const scenario = async (t: Testbed) => {
    alerts.length = 0
    await follow(t)
    expect(alerts).toHaveLength(1)
  }
  const steps = { careful: { confirm: () => void alerts.push('confirmed') } }
  const crashed = crashEverywhere({ workflows: [workflow], steps }, scenario)
  await expect(crashed).rejects.toThrow(
    /^crashed at write 5 of 6: saveCheckpoint of step "confirm" in careful, before the commit: expected/,
  )
  await expect(crashed).rejects.toHaveProperty('cause.name', 'AssertionError')
})

test('crashEverywhere finds a value that a crash changes', async () => {
  let began = 0
  const counting = define('counting', { on: 'go' }, async ({ step }) => {
    const passes = ++began
    await step.run('mark', () => null)
    return passes
  })
  const scenario = async (t: Testbed) => {
    began = 0
    await t.send('go')
    return t.run(counting).output
  }
  const place = 'crashed at write 1 of 2: saveCheckpoint of step "mark" in counting, before the commit'
  const crashed = crashEverywhere({ workflows: [counting] }, scenario)
  await expect(crashed).rejects.toThrow(`${place}: the scenario returned 2 instead of 1`)
})

test('crashEverywhere refuses a scenario that does not do the same each time', async () => {
  let trials = 0
  const scenario = async (t: Testbed) => void (trials++ === 0 && (await t.send('go')))
  await expect(crashEverywhere({ workflows: [workflow] }, scenario)).rejects.toThrow('write 1 of 3 never came')
})

test('crashEverywhere rejects with the error of a scenario that fails without a crash', async () => {
  const failure = new Error('wrong from the start')
  const crashed = crashEverywhere({ workflows: [workflow] }, () => Promise.reject(failure))
  await expect(crashed).rejects.toBe(failure)
})

test('crashEverywhere covers parallel steps and open calls to the service', async () => {
  const parallel = define('parallel', { on: 'go' }, async ({ step, files }) => {
    const reads = ['storage_a', 'storage_b', 'storage_c'] as const
    const found = await Promise.all(reads.map((service) => files.snapshot({ service })))
    await Promise.all(['x', 'y', 'z'].map((name) => step.run(['note', name], () => name)))
    return found.map(({ items }) => items.map((item) => item.id))
  })
  const { writes } = await crashEverywhere({ workflows: [parallel] }, async (t) => {
    const file = await t.storage('storage_b').put('/b.txt', 'b')
    await t.send('go')
    expect(t.run(parallel)).toMatchObject({ status: 'completed', output: [[], [file.id], []] })
    return t.run(parallel).output
  })
  expect(writes).toBe(7)
})

test('a running step function ends before the engine restarts after a crash', async () => {
  const order: string[] = []
  const sideBySide = define('side-by-side', { on: 'go' }, ({ step }) =>
    Promise.all([
      step.run('slow', async () => {
        order.push('slow begins')
        for (let passed = 0; passed < 50; passed++) await turn()
        order.push('slow ends')
      }),
      // This step's result is written, or kills the engine, while the other step is still
      // running.
      step.run('quick', () => 'done'),
    ]),
  )
  const { writes } = await crashEverywhere({ workflows: [sideBySide] }, async (t) => {
    order.length = 0
    await t.send('go')
    expect(t.run(sideBySide).status).toBe('completed')
    expect(order.filter((_, index) => index % 2 === 0)).toEqual(Array(order.length / 2).fill('slow begins'))
    expect(order.filter((_, index) => index % 2 === 1)).toEqual(Array(order.length / 2).fill('slow ends'))
  })
  expect(writes).toBe(3)
})

test('crashEverywhere compares the effects itself', async () => {
  let passes = 0
  const forgetful = define('forgetful', { on: 'go' }, async ({ step, run }) => {
    await step.run(['note', ++passes > 1 ? 'again' : run.id.slice(0, 3)], () => null)
  })
  const scenario = async (t: Testbed) => {
    passes = 0
    await t.send('go')
  }
  const crashed = crashEverywhere({ workflows: [forgetful] }, scenario)
  await expect(crashed).rejects.toThrow(/the effects were .*note\[again\].* instead of .*note\[run\]/)
  const report = await crashEverywhere({ workflows: [forgetful] }, scenario, { compareEffects: false })
  expect(report.crashes).toBe(4)
})

test('crashEverywhere cuts a step off in the middle of its function', async () => {
  const begun: string[] = []
  const copying = define('copying', { on: 'go' }, ({ step }) =>
    step.run('copy', async () => {
      begun.push('copy')
      await turn()
      return 'copied'
    }),
  )
  const scenario = async (t: Testbed) => {
    begun.length = 0
    await t.send('go')
    expect(begun).toHaveLength(1)
    return t.run(copying).output
  }
  const crashed = crashEverywhere({ workflows: [copying], steps: {} }, scenario)
  await expect(crashed).rejects.toThrow(/^crashed at write 1 of 2/)
  const report = await crashEverywhere({ workflows: [copying] }, async (t) => {
    await t.send('go')
    return t.run(copying).output
  })
  expect(report).toMatchObject({ writes: 2, crashes: 5, value: 'copied' })
})

test('crashEverywhere swaps the code when the engine dies', async () => {
  const changed = define('careful', { on: 'go' }, async ({ step, run }) => {
    await step.run('send', ({ idempotencyKey }) => idempotencyKey)
    await step.sleep('pause', '1h')
    await step.run('confirm', () => 'confirmed')
    return { run: run.id, sent: 'by changed code' }
  })
  const outputs = new Set<unknown>()
  await crashEverywhere(
    { workflows: [workflow] },
    async (t) => {
      outputs.add(((await follow(t)).output as { sent: string } | null)?.sent.replace(/run_\w+/, 'run'))
    },
    { deploy: [changed] },
  )
  expect([...outputs]).toEqual(['run/send', 'by changed code'])
})
