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

test('P7: a delete that begins again leaves what took the place of the file that it may have deleted', async () => {
  await using t = await testbed({ workflows: [sweep] })
  const { faults, storage } = await t.sandbox()
  const files = storage('storage_a')
  const { id } = await files.put('/a.txt', 'x')
  faults.add({ on: 'files.delete', times: 1, reset: true, afterwards: true })
  // The look before the request passes. The one after it, which would tell of its end, does not.
  faults.add({ on: 'files.get', skip: 1, status: 503 })
  await t.send(t.emitted('file.created'))
  expect(t.run(sweep).status).toBe('waiting')
  expect(files.list()).toEqual([])
  await files.put('/a.txt', 'put back by its owner', { id })
  faults.clear()
  await t.advance('1h')
  expect(t.run(sweep).output).toEqual({ outcome: 'changed', proof: 'verified' })
  expect(files.list()).toMatchObject([{ path: '/a.txt', id }])
})

test('P7: a delete that meets an earlier one, still under way, is tried again and finds the file gone', async () => {
  await using t = await testbed({ workflows: [sweep] })
  const { faults, storage } = await t.sandbox()
  await storage('storage_a').put('/a.txt', 'x')
  // The file goes meanwhile. The look before the request passes, and the one after it does not.
  faults.add({ on: 'files.delete', times: 1, status: 404, afterwards: true })
  faults.add({ on: 'files.get', skip: 1, status: 503 })
  await t.send(t.emitted('file.created'))
  expect(t.run(sweep)).toMatchObject({ status: 'waiting' })
  faults.clear()
  await t.advance('1h')
  expect(t.run(sweep).output).toEqual({ outcome: 'already_gone', proof: 'verified' })
})
