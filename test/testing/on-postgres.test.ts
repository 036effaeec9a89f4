import pg from 'pg'
import { expect, inject, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { callable, defineWorkflow } from '../../src/author/index.ts'
import type { ServiceEvent } from '../../src/core/incoming/event.ts'
import { crashEverywhere, type Testbed, testbed } from '../../src/testing/index.ts'
import intake from '../../workflows/intake-new-file.workflow.ts'
import { follow, outputOf, useOutput } from '../support/sample-output.ts'

const out = useOutput()
const databaseUrl = inject('databaseUrl')

async function drop(t: Testbed, path: string): Promise<ServiceEvent> {
  await t.storage('storage_a').put(path, 'hello')
  return t.emitted('file.created')
}

test('a sample workflow that deletes reaches the same end wherever it crashes', async () => {
  const warnings: Error[] = []
  const warn = (warning: Error) => warnings.push(warning)
  process.on('warning', warn)
  onTestFinished(() => void process.off('warning', warn))
  const { writes, crashes } = await crashEverywhere({ workflows: [intake], databaseUrl }, async (t) => {
    out.renew()
    const event = await drop(t, '/inbox/setup.exe')
    expect(outputOf(await follow(t, event))).toMatchObject({ decision: 'deleted' })
    expect((await t.sandbox()).events.list({ type: 'file.deleted' })).toHaveLength(1)
  })
  expect(writes).toBe(7)
  // Timers of the store are not the code's.
  expect(warnings).toEqual([])
  expect(crashes).toBeGreaterThanOrEqual(12)
})

test('waits, invocations and limits come to rest, and the schema goes with the testbed', async () => {
  const child = defineWorkflow({ id: 'child', on: callable(z.void()), concurrency: { limit: 1 }, run: () => 'done' })
  const parent = defineWorkflow({
    id: 'parent',
    on: 'go',
    async run({ step }) {
      const first = await step.invoke('call', child)
      await step.sleep('pause', '1h')
      return [first, await step.invoke('call again', child)]
    },
  })
  const count = async () => {
    const client = new pg.Client(databaseUrl)
    await client.connect()
    const { rows } = await client.query(`SELECT count(*)::int AS n FROM pg_namespace WHERE nspname ~ '^upshot_test_'`)
    await client.end()
    return rows[0].n
  }
  const before = await count()
  {
    await using t = await testbed({ workflows: [parent, child], databaseUrl, workers: 2 })
    for (let n = 0; n < 3; n++) await t.send('go')
    await t.advance('1h')
    expect(t.runs('parent').map(({ output }) => output)).toEqual(Array(3).fill(['done', 'done']))
    expect(await count()).toBeGreaterThan(before)
  }
  expect(await count()).toBe(before)
})

test.each([undefined, databaseUrl])(
  'a text that a database cannot keep is one that people can approve',
  async (url) => {
    const writer = defineWorkflow({
      id: 'writer',
      on: 'go',
      guard: { writes: { perRun: 0 } },
      async run({ step }) {
        const verdict = await step.approve('ask', { ask: 'Write a\0b\ud800?' })
        return step.run('write', () => verdict.approved, { target: 'a\0b\ud800' })
      },
    })
    await using t = await testbed({ workflows: [writer], ...(url && { databaseUrl: url }) })
    await t.send('go')
    const [question] = await t.approvals()
    await t.approve(question ?? '')
    const [asked] = await t.approvals()
    expect([question?.why, asked?.items[0]?.target]).toEqual(['Write a\u{fffd}b\u{fffd}?', 'a\u{fffd}b\u{fffd}'])
    await t.approve(asked ?? '')
    expect(t.run(writer)).toMatchObject({ status: 'completed', output: true })
  },
)
