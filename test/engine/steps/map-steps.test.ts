import { expect } from 'vitest'
import { TerminalError } from '../../../src/core/errors.ts'
import { createTestEngine, test } from '../../support/test-engine.ts'

test('a map runs a bounded number of items at a time and returns results in order', async ({ engine }) => {
  let atWork = 0
  let most = 0
  await engine.serve('map', ({ step }) =>
    step.map(
      'check',
      Array.from({ length: 20 }, (_, n) => n),
      (n) => `k${n}`,
      async (n, { idempotencyKey }) => {
        most = Math.max(most, ++atWork)
        await new Promise((resolve) => setImmediate(resolve))
        atWork -= 1
        return `${n} ${idempotencyKey.split('/')[1]}`
      },
      { parallel: 3 },
    ),
  )
  const run = await engine.run('map')
  expect(JSON.parse(run.output ?? '')).toEqual(Array.from({ length: 20 }, (_, n) => `${n} check[k${n}]`))
  expect(most).toBe(3)
})

test('an item that waits for its next attempt does not delay the others', async ({ engine }) => {
  const calls: string[] = []
  await engine.serve('map', { retry: { attempts: 3, min: '10s' } }, ({ step }) =>
    step.map(
      'check',
      ['a', 'b', 'c', 'd', 'e'],
      String,
      (name, { attempt }) => {
        calls.push(`${name}${attempt}`)
        if ('ab'.includes(name) && attempt === 1) throw new Error('not yet')
        return name
      },
      { parallel: 2 },
    ),
  )
  const parked = await engine.run('map')
  expect(calls).toEqual(['a1', 'b1', 'c1', 'd1', 'e1'])
  expect(await engine.advance(parked.id, '5s')).toMatchObject({ status: 'completed', output: '["a","b","c","d","e"]' })
  expect(calls.slice(5)).toEqual(['a2', 'b2'])
})

test('a failed item fails the map in every replay, and no item begins after it', async ({ engine }) => {
  const calls: number[] = []
  const caught: string[] = []
  await engine.serve('map', { retry: { attempts: 1 } }, async ({ step }) => {
    const check = (n: number) => {
      calls.push(n)
      if (n > 2) throw new Error(`no ${n}`)
    }
    await step
      .map('check', [1, 2, 3, 4, 5, 6], String, check, { parallel: 2 })
      .catch((error) => caught.push(error.step))
    await step.sleep('nap', '1m')
  })
  const parked = await engine.run('map')
  await engine.advance(parked.id, '1m')
  expect(calls).toEqual([1, 2, 3, 4])
  expect(caught).toEqual(['check[3]', 'check[3]'])
})

test('a retry that comes while the code goes on after a failed map begins nothing, and a replay agrees', async () => {
  const engine = createTestEngine()
  const calls: string[] = []
  await engine.serve('map', { retry: { attempts: 2, min: '1s', max: '1s' } }, async ({ step }) => {
    const check = (name: string) => {
      calls.push(name)
      throw name === 'a' ? new TerminalError('never') : new Error('not yet')
    }
    await step.map('check', ['b', 'a'], String, check).catch(() => {})
    await step.run('fast', () => {
      engine.clock.advance('10s')
      return new Promise((resolve) => setImmediate(resolve))
    })
    await step.sleep('nap', '1m')
  })
  const parked = await engine.run('map')
  expect(parked).toMatchObject({ status: 'waiting' })
  expect(await engine.advance(parked.id, '1m')).toMatchObject({ status: 'completed' })
  expect(calls).toEqual(['b', 'a'])
})

test('two items with the same key are refused', async ({ engine }) => {
  await engine.serve('map', ({ step }) => step.map('check', ['a', 'a'], String, (x) => x))
  expect(await engine.run('map')).toMatchObject({
    status: 'failed',
    error: { message: expect.stringContaining('two items have the key "a"') },
  })
})
