import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { cron, defineEvent, defineWorkflow, z } from '../../src/author/index.ts'
import { testbed } from '../../src/testing/index.ts'
import { greet } from './support/workflows.ts'

const nightly = defineWorkflow({ id: 'nightly', on: cron('0 3 * * *'), run: () => null })

test('send resolves when the runs of the event have come to rest', async () => {
  await using t = await testbed({ workflows: [greet] })
  const { event, runs } = await t.send('greeting.asked', { name: 'Ada' })
  expect(event).toMatchObject({ id: 'evt_test1', created: '2026-01-01T00:00:00.000Z' })
  expect(runs).toMatchObject([{ workflow: 'greet', status: 'completed', output: 'Hello Ada', error: null }])
  expect(t.run(greet).steps()).toEqual([
    {
      key: 'greet',
      effect: 'write',
      status: 'completed',
      output: 'Hello Ada',
      error: null,
      attempt: 1,
      target: null,
    },
  ])
  expect(t.run('greet').logs()).toEqual([{ level: 'info', message: 'asked', facts: { by: 'Ada' } }])
})

test('an event starts no workflow of another type', async () => {
  await using t = await testbed({ workflows: [greet] })
  expect((await t.send('greeting.refused', {})).runs).toEqual([])
  expect(() => t.run(greet)).toThrow('"greet" has no run yet')
})

test("an event sent by its definition has the definition's type and parser", async () => {
  const sized = defineEvent('file.sized', { data: z.object({ size: z.string().transform(Number) }) })
  const double = defineWorkflow({ id: 'double', on: sized, run: ({ event }) => event.data.size * 2 })
  await using t = await testbed({ workflows: [double] })
  await t.send(sized, { size: '21' })
  expect(t.run(double).output).toBe(42)
  // @ts-expect-error: the service sends text
  await t.send(sized, { size: 21 })
  expect(t.run(double)).toMatchObject({ status: 'waiting', reason: expect.stringContaining('data.size') })
  expect(t.runs(double)).toHaveLength(2)
})

test('a testbed refuses an invalid start time', async () => {
  await expect(testbed({ workflows: [], now: 'tomorrow' })).rejects.toThrow('"tomorrow" is not a moment')
})

test.each<[string, (t: Awaited<ReturnType<typeof testbed>>) => unknown, string]>([
  ['an unknown workflow', (t) => t.runs('great'), 'no workflow "great". It has: greet, nightly.'],
  ['a tick of an unknown workflow', (t) => t.tick('great'), 'no workflow "great"'],
  ['a tick at no moment', (t) => t.tick(nightly, 'tomorrow'), '"tomorrow" is not a moment'],
  ['a run of a workflow without runs', (t) => t.run('greet'), 'no run yet'],
  ['an invalid duration', (t) => t.advance('soon' as never), '"soon" is not a duration'],
])('a testbed explains %s', async (_, mistake, message) => {
  await using t = await testbed({ workflows: [greet, nightly] })
  await expect((async () => mistake(t))()).rejects.toThrow(message)
})

test('a testbed explains duplicate ids, steps of an unknown workflow, and calls after it is closed', async () => {
  await expect(testbed({ workflows: [greet, { ...greet }] })).rejects.toThrow('the same id')
  await expect(testbed({ workflows: [greet], steps: { great: {} } })).rejects.toThrow('no workflow "great"')
  const t = await testbed({ workflows: [greet] })
  await t[Symbol.asyncDispose]()
  await t[Symbol.asyncDispose]()
  await expect(t.send('greeting.asked')).rejects.toThrow('is closed')
})

test('a testbed needs no test framework and lets the process end by itself', { timeout: 60_000 }, async () => {
  const script = `
    import assert from 'node:assert/strict'
    import { test } from 'node:test'
    import { defineWorkflow } from 'upshot'
    import { testbed } from 'upshot/testing'
    const workflow = defineWorkflow({ id: 'w', on: 'go', run: ({ files }) => files.snapshot({ service: 'storage_a' }) })
    test('follows up', async () => {
      await using t = await testbed({ workflows: [workflow] })
      await t.storage('storage_a').put('/a', '')
      await t.deliver({ id: 'evt_1', type: 'go', created: '2026-01-01T00:00:00Z', data: {} })
      assert.equal(t.run(workflow).output?.items.length, 1)
    })`
  const args = ['--test-reporter=tap', '--input-type=module-typescript', '--eval', script]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  expect(stdout).toContain('# pass 1')
})

test('a testbed leaves no file behind', async () => {
  const before = readdirSync('.')
  await using t = await testbed({ workflows: [] })
  await t.settle()
  expect(readdirSync('.')).toEqual(before)
})
