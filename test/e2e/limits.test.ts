import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineEvent } from '../../src/author/define-event.ts'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { startServedApp, startService } from './support/served-app.ts'

const fileCreated = defineEvent('file.created', { data: z.looseObject({ file: z.looseObject({ id: z.string() }) }) })

const look = defineWorkflow({
  id: 'look',
  on: fileCreated,
  run: async ({ event, files }) => (await files.get({ service: 'storage_a', id: event.data.file.id })).size,
})

test('a run that waits for the request limit frees its slot, and goes on at its moment', async () => {
  const served = await startService()
  const plain = defineWorkflow({ id: 'plain', on: 'transfer.*', run: () => 'through' })
  const { hear, app, advance, clock } = await startServedApp(
    { ...served, service: { ...served.service, plan: 2 } },
    { workflows: [look, plain] },
    { config: { slots: 1 } },
  )
  for (const name of ['a', 'b', 'c']) await served.sandbox.storage('storage_a').put(`/${name}.txt`, name)
  const parked = await hear('run.parked')
  expect(parked).toMatchObject({
    workflow: 'look',
    reason: expect.stringContaining('The limit allows no request soon enough'),
  })
  expect(parked.dueAt).toBe(clock.now() + 61_000)
  served.sandbox.events.emit('transfer.completed', { transfer: {} })
  await hear('run.completed', ({ workflow }) => workflow === 'plain')
  expect(await app.store.findRun(parked.run)).toMatchObject({ status: 'waiting' })

  await advance(61_000)
  await hear('run.completed', ({ run }) => run === parked.run)
  expect(served.sandbox.audit.requests().map(({ status }) => status)).toEqual([200, 200, 200])
})

test('a burst of the project file lets more requests of an account start at once than a minute allows', async () => {
  const served = await startService()
  const { hear } = await startServedApp(
    { ...served, service: { ...served.service, plan: 2 } },
    { workflows: [look] },
    { config: { files: { burst: { default: 4 } } } },
  )
  for (const name of ['a', 'b', 'c', 'd', 'e']) await served.sandbox.storage('storage_a').put(`/${name}.txt`, name)
  await hear('run.parked')
  // The fifth run parks while requests of the others are on their way.
  await expect.poll(() => served.sandbox.audit.requests()).toHaveLength(4)
})

test('a restarted app sends nothing before the moment that a 429 named', async () => {
  const served = await startService()
  const dataDir = tempFolder()
  // A 429 without a time means a whole minute.
  served.sandbox.settings.update({ retryAfter: false, rateHeaders: false })
  await served.sandbox.faults.add({ on: 'files.get', status: 429, times: 1 })
  const before = await startServedApp(served, { workflows: [look] }, { dataDir })
  await served.sandbox.storage('storage_a').put('/a.txt', 'a')
  const { dueAt, run } = await before.hear('run.parked')
  expect(dueAt).toBe(before.clock.now() + 60_000)
  await before.app.stop()

  const after = await startServedApp(served, { workflows: [look] }, { dataDir })
  await served.sandbox.storage('storage_a').put('/b.txt', 'b')
  await after.hear('run.parked', (notice) => notice.run !== run)
  expect(served.sandbox.audit.requests()).toHaveLength(1)
  await after.advance(60_000)
  const { run: first } = await after.hear('run.completed')
  await after.hear('run.completed', (notice) => notice.run !== first)
  expect(served.sandbox.audit.requests().map(({ status }) => status)).toEqual([429, 200, 200])
  expect(served.sandbox.audit.findings()).toEqual([])
})
