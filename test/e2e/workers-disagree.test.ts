import { expect, onTestFinished, test } from 'vitest'
import { App } from '../../src/app/app.ts'
import type { AppParts } from '../../src/app/open-parts.ts'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import type { AnyWorkflow } from '../../src/author/workflow.ts'
import { ManualClock } from '../../src/core/time.ts'
import { postDelivery } from '../support/post-delivery.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { hearNotices } from '../support/test-app.ts'
import { NO_SERVICE, testConfig, WEBHOOK_SECRET } from '../support/test-config.ts'

const followUp = defineWorkflow({ id: 'follow-up', on: 'file.created', run: () => null })
const other = defineWorkflow({ id: 'other', on: 'transfer.completed', run: () => null })

async function startApp(dataDir: string, workflows: readonly AnyWorkflow[], parts: Partial<AppParts> = {}) {
  const { notices, heard } = hearNotices()
  const app = await App.create(testConfig(dataDir, { service: NO_SERVICE }), { workflows, notices, ...parts })
  onTestFinished(() => app.stop())
  const { endpoints } = await app.start()
  return { app, heard, notices, url: endpoints.service ?? '' }
}

test('events start their runs as before after a second app with another folder has started', async () => {
  const dataDir = tempFolder()
  const first = await startApp(dataDir, [followUp])
  const second = await startApp(dataDir, [other])
  expect(second.heard).toContainEqual({ kind: 'workflows.elsewhere', workflows: ['follow-up'] })
  for (const { url } of [first, second]) await postDelivery(url, WEBHOOK_SECRET, `evt_${url.length}_${Math.random()}`)
  expect((await first.app.store.listRuns({ limit: 9 })).map(({ workflow }) => workflow)).toEqual([
    'follow-up',
    'follow-up',
  ])
})

test('a workflow that no app at work has any more is told once, and its runs wait', async () => {
  const dataDir = tempFolder()
  const first = await startApp(dataDir, [followUp])
  const second = await startApp(dataDir, [other])
  await first.app.stop()
  const parked = second.notices.once('run.parked', ({ reason }) => reason.includes('follow-up'))
  for (const event of ['evt_1', 'evt_2']) await postDelivery(second.url, WEBHOOK_SECRET, event)
  await parked
  expect(second.heard.filter(({ kind }) => kind === 'workflow.missing')).toEqual([
    { kind: 'workflow.missing', workflow: 'follow-up' },
  ])
})

test('after a rollback, the old code that is left decides by itself', async () => {
  const dataDir = tempFolder()
  const clock = new ManualClock()
  const old = await startApp(dataDir, [followUp], { clock })
  const renewed = await startApp(dataDir, [defineWorkflow({ id: 'follow-up', on: 'file.deleted', run: () => null })], {
    clock,
  })
  await renewed.app.stop()
  const types = async () => (await old.app.store.listRoutes())?.map(({ eventType }) => eventType)
  expect(await types()).toEqual(['file.created', 'file.deleted'])
  const typesOfNext = () => {
    clock.advance('1m')
    return types()
  }
  await expect.poll(typesOfNext).toEqual(['file.created'])
})

test('an app with an empty folder is refused where the database knows workflows', async () => {
  const dataDir = tempFolder()
  const first = await startApp(dataDir, [followUp])
  const empty = startApp(dataDir, [])
  await expect(empty).rejects.toMatchObject({ code: 'invalid_config', message: expect.stringContaining('follow-up') })
  expect(await first.app.store.listRoutes()).toHaveLength(1)
})

test('an event that no workflow starts on is accepted and counted, and its notice says so', async () => {
  const { app, heard, url } = await startApp(tempFolder(), [other])
  expect(await postDelivery(url, WEBHOOK_SECRET, 'evt_1')).toMatchObject({ status: 200 })
  expect(await app.store.tallyUnmatched()).toMatchObject([{ type: 'file.created', events: 1 }])
  expect(heard).toContainEqual(
    expect.objectContaining({ kind: 'delivery.received', facts: { secret: 0, unmatched: true } }),
  )
})

test('events that the endpoint filters out do not count as unmatched', async () => {
  const { app, url } = await startApp(tempFolder(), [other])
  const [endpoint] = await app.store.listEndpoints()
  if (endpoint) await app.store.updateEndpoint({ ...endpoint, events: ['transfer.*'] })
  await postDelivery(url, WEBHOOK_SECRET, 'evt_1')
  expect(await app.store.tallyUnmatched()).toEqual([])
})
