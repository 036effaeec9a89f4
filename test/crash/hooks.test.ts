import { expect, test } from 'vitest'
import { z } from 'zod'
import { crashEverywhere } from '../../src/testing/index.ts'
import { define } from '../support/workflows.ts'

const one = define('one', { on: 'file.created' }, async ({ step }) => {
  const scan = await step.hook('scan', { data: z.object({ verdict: z.string() }), expires: '2h' })
  await step.run('order', async () => scan.id !== '', { effect: 'write' })
  return (await step.waitFor('scanned', scan))?.data
})

const many = define('many', { on: 'file.created' }, async ({ step }) => {
  const hook = await step.hook('parts', { data: z.number(), expires: '1h', many: true })
  const parts: (number | null)[] = []
  for (let at = 0; at < 4 && parts.at(-1) !== null; at++) {
    const answer = await step.receive(['part', at], hook)
    parts.push(answer === null ? null : answer.data)
    await step.sleep(['rest', at], '1m')
  }
  return parts
})

test('an answer is taken once at every crash, before the wait or behind it', async () => {
  const report = await crashEverywhere({ workflows: [one] }, async (t) => {
    await t.send('file.created')
    await t.answer(t.run('one'), 'scan', { verdict: 'clean' })
    return t.run('one').output
  })
  expect(report.value).toEqual({ verdict: 'clean' })
})

test('each answer of a hook with `many` is received once at every crash', async () => {
  const report = await crashEverywhere({ workflows: [many] }, async (t) => {
    await t.send('file.created')
    await t.answer(t.run('many'), 'parts', 1)
    await t.answer(t.run('many'), 'parts', 1)
    await t.advance('2h')
    return t.run('many').output
  })
  expect(report.value).toEqual([1, 1, null])
})
