import { expect, test } from 'vitest'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { queueRun } from '../../support/fixtures.ts'
import { createTestEngine } from '../../support/test-engine.ts'

test('a key that throws or returns no string parks the run for a person before it starts', async () => {
  const engine = createTestEngine()
  const keys = {
    throws: () => {
      throw new Error('no folder')
    },
    silent: () => undefined as never,
    late: (async () => 'a') as never,
  }
  const run = () => 'ran'
  await engine.start(
    Object.entries(keys).map(([id, key]) => defineWorkflow({ id, on: '*', concurrency: { limit: 1, key }, run })),
  )
  const why = async (id: string) => engine.run(id, `evt_${id}`)
  const forPerson = { status: 'waiting', dueAt: null, isInLine: false, startedAt: null }
  expect(await why('throws')).toMatchObject({ ...forPerson, reason: 'the key of `concurrency` threw: no folder' })
  expect(await why('silent')).toMatchObject({ ...forPerson, reason: expect.stringContaining('returned undefined') })
  expect(await why('late')).toMatchObject({ ...forPerson, reason: expect.stringContaining('returned a promise') })
})

test('a run whose filter throws waits for a person and has not started', async () => {
  const engine = createTestEngine()
  const where = () => {
    throw new Error('broken')
  }
  await engine.start([defineWorkflow({ id: 'filtered', on: '*', where, run: () => 1 })])
  expect(await engine.run('filtered')).toMatchObject({ status: 'waiting', startedAt: null, reason: 'broken' })
})

test('a workflow without limits never calls the store to admit a run', async () => {
  const engine = createTestEngine()
  const store = { ...engine.store, admitRun: () => Promise.reject(new Error('asked')) }
  await engine.start([defineWorkflow({ id: 'plain', on: '*', priority: 3, run: () => 1 })], { store })
  await queueRun(engine.store, 'evt_0', 'plain')
  expect(await engine.run('plain')).toMatchObject({ status: 'completed' })
})
