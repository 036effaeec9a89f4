import { expect } from 'vitest'
import { defineWorkflow } from '../../../src/author/define-workflow.ts'
import { awaitRuns, haveStatus } from '../../support/await-runs.ts'
import { test } from '../../support/test-engine.ts'
import { define } from '../../support/workflows.ts'
import { deliver, filesOf } from '../support/files-in-runs.ts'

const ref = { service: 'storage_a', id: 'fil_1' } as const

const deleted = { service: 'storage_a', file: { id: 'fil_1' } }

const sweep = define('sweep', { on: 'file.created' }, ({ files }) => files.delete(ref))

const watch = define(
  'watch',
  { on: 'file.deleted', where: (event) => !event.isSelfCaused },
  ({ event }) => event.isSelfCaused,
)

test('`isSelfCaused` is false when our delete came too late', async ({ engine }) => {
  const filesFor = filesOf({ delete: async () => ({ outcome: 'not_found', proof: 'none' }) })
  await engine.start([sweep, watch], { filesFor })
  await engine.run('sweep')
  const run = await deliver(engine, 'evt_own', 'file.deleted', deleted, 'watch')
  expect(await engine.passOf(run)).toMatchObject({ status: 'completed' })
})

test('a run waits for a delete under way, which is recorded before it is sent', async ({ engine }) => {
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<object>()
  const filesFor = filesOf({
    delete: () => {
      asked.resolve()
      return answer.promise
    },
  })
  await engine.start([sweep, watch], { filesFor })
  const swept = engine.run('sweep')
  await asked.promise
  const run = await deliver(engine, 'evt_own', 'file.deleted', deleted, 'watch')
  expect(await engine.passOf(run)).toMatchObject({
    status: 'waiting',
    dueAt: engine.clock.now() + 1_000,
    reason: expect.stringContaining('storage_a:fil_1 by a run is still under way'),
  })
  // The runs of a long list of deletes look less often the longer it takes.
  expect(await engine.advance(run, '80s')).toMatchObject({ status: 'waiting', dueAt: engine.clock.now() + 20_000 })
  answer.resolve({ outcome: 'deleted', proof: 'reply' })
  expect(await swept).toMatchObject({ status: 'completed' })
  expect(await engine.advance(run, '20s')).toMatchObject({ status: 'skipped' })
})

test("`isSelfCaused` is true even if the delete used the service's own spelling", async ({ engine }) => {
  const raw = define('raw', { on: 'file.created' }, ({ files }) =>
    files.delete({ service: 'doc-drive' as 'storage_a', id: 'fil_1' }),
  )
  const filesFor = filesOf({ delete: async () => ({ outcome: 'deleted', proof: 'reply' }) })
  await engine.start([raw, sweep, watch], { filesFor, spellingsOf: () => ({ storage_a: 'doc-drive' }) })
  await engine.run('raw')
  const data = { service: 'doc-drive', file: { id: 'fil_1' } }
  const run = await deliver(engine, 'evt_own', 'file.deleted', data, 'watch')
  expect(await engine.passOf(run)).toMatchObject({ status: 'skipped' })
})

test('each event of a batch knows of the delete of its own file', async ({ engine }) => {
  const filesFor = filesOf({ delete: async () => ({ outcome: 'deleted', proof: 'reply' }) })
  const gather = defineWorkflow({
    id: 'gather',
    on: 'file.deleted',
    batch: { size: 3, wait: '30s' },
    run: ({ events }) => events.map((event) => [event.id, event.isSelfCaused]),
  })
  const worker = await engine.start([sweep, gather], { filesFor })
  await engine.run('sweep')
  for (const id of ['fil_0', 'fil_1', 'fil_2']) {
    await deliver(engine, `evt_${id}`, 'file.deleted', { service: 'storage_a', file: { id } }, 'gather')
  }
  worker.wake()
  const runs = await awaitRuns(engine, haveStatus({ completed: 2, skipped: 2 }))
  const outputs = runs.filter(({ workflow }) => workflow === 'gather').map(({ output }) => output)
  expect(outputs).toContain('[["evt_fil_0",false],["evt_fil_1",true],["evt_fil_2",false]]')
})
