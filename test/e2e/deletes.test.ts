import { expect, test } from 'vitest'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { DEFAULT_GUARD, DEFAULT_POLICY } from '../../src/core/safety/guard.ts'
import { asOperator } from '../../src/core/store/as-operator.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { startServedApp, startService } from './support/served-app.ts'

const tidy = defineWorkflow({
  id: 'tidy',
  on: 'transfer.*',
  run: ({ event, files }) => files.delete({ service: 'storage_a', id: String(event.data.transfer) }),
})

/** The service has another name for our `storage_a`. */
const storages = { storage_a: 'storage_b', storage_b: 'other', storage_c: 'storage_c' }

test('the whole app holds a delete for a stop that comes while it waits for the limit', async () => {
  const look = defineWorkflow({
    id: 'look',
    on: 'file.created',
    run: async ({ event, files }) =>
      (await files.hash({ service: 'storage_a', id: (event.data.file as { id: string }).id }))?.bytes,
  })
  const echo = defineWorkflow({ id: 'echo', on: 'file.deleted', run: ({ event }) => event.isSelfCaused })
  const served = await startService()
  const { sandbox } = served
  const { hear, app, advance, clock } = await startServedApp(
    { ...served, service: { ...served.service, plan: 3, storages } },
    { workflows: [look, tidy, echo] },
  )
  const calls = () => sandbox.audit.requests().map(({ operation }) => operation)
  const { id } = await sandbox.storage('storage_b').put('/a.txt', 'a')
  await hear('run.completed', ({ workflow }) => workflow === 'look')
  await advance(58_000)
  sandbox.events.emit('transfer.completed', { transfer: id })
  // The delete has its permit. Its look waits for two starts, until the first one is a minute old.
  await expect.poll(async () => (await app.store.listEffects({ limit: 1 }))[0]?.phase).toBe('begun')
  expect(calls()).toEqual(['files.get', 'files.download'])
  const people = asOperator(app.store, { actor: 'anna', role: 'operator', from: 'here', reason: null }, clock)
  const by = { actor: 'anna', reason: 'wait for me' }
  const scope = { kind: 'storage', name: 'storage_a' } as const
  await people.stopEffects({ ...scope, ...by, since: clock.now() })
  await advance(3_000)
  const { run, reason } = await hear('run.parked', ({ workflow }) => workflow === 'tidy')
  expect(reason).toContain('effects of the storage storage_a are stopped: wait for me')
  expect(calls()).toEqual(['files.get', 'files.download', 'files.get'])

  await advance(61_000)
  await people.resumeEffects(scope, { ...by, now: clock.now() })
  await hear('run.completed', (notice) => notice.run === run)
  expect(calls().at(-1)).toBe('files.delete')
  const [ended] = await app.store.listEffects({ limit: 1 })
  expect(ended).toMatchObject({ phase: 'ended', outcome: 'deleted' })
  expect(JSON.parse(ended?.before ?? '')).toMatchObject({ path: '/a.txt', bytes: 1 })
  // The event of our own delete names the storage as the service does. It may come before its end.
  const findEcho = async () => {
    await advance(1_000)
    const [echo] = await app.store.listRuns({ workflow: 'echo', status: 'completed', limit: 1 })
    return (echo && (await app.store.findRun(echo.id)))?.output
  }
  await expect.poll(findEcho).toBe('true')
  expect(sandbox.audit.findings()).toEqual([])
})

test('a delete that the guard of one start holds begins once the next start has a higher limit', async () => {
  const served = await startService()
  const dataDir = tempFolder()
  const { id } = await served.sandbox.storage('storage_a').put('/a.txt', 'a')
  const start = (perRun: number) => {
    const limits = { ...DEFAULT_GUARD, workflow: { deletes: { perRun } } }
    const config = { guardPolicy: { ...DEFAULT_POLICY, limits } }
    return startServedApp(served, { workflows: [tidy] }, { dataDir, config })
  }
  const before = await start(0)
  served.sandbox.events.emit('transfer.completed', { transfer: id })
  const { run } = await before.hear('run.parked')
  await before.app.stop()
  const after = await start(1)
  await after.hear('run.completed', (notice) => notice.run === run)
})
