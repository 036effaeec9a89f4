import { expect, test } from 'vitest'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { crashEverywhere, testbed } from '../../../src/testing/index.ts'

const sweep = defineWorkflow({
  id: 'sweep',
  on: 'file.created',
  run: ({ event, files }) => {
    const { service, file } = event.data as { service: 'storage_a'; file: { id: string } }
    return files.delete({ service, id: file.id })
  },
})

test('P7: a delete that a crash cut off says that the entry is already gone, not that it never was', async () => {
  const outcomes = new Set<string>()
  await crashEverywhere({ workflows: [sweep] }, async (t) => {
    await t.storage('storage_a').put('/a.txt', 'x')
    await t.send(t.emitted('file.created'))
    const { outcome } = t.run(sweep).output as { outcome: string }
    outcomes.add(outcome)
    expect((await t.sandbox()).events.list({ type: 'file.deleted' })).toHaveLength(1)
  })
  expect([...outcomes].sort()).toEqual(['already_gone', 'deleted'])
})

test('a delete of an entry that nobody asked to delete before says that there is none', async () => {
  await using t = await testbed({ workflows: [sweep] })
  await t.storage('storage_a').put('/a.txt', 'x')
  const event = t.emitted('file.created')
  await t.storage('storage_a').remove('/a.txt')
  await t.send(event)
  expect(t.run(sweep).output).toEqual({ outcome: 'not_found', proof: 'none' })
})
