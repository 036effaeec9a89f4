import { expect, test } from 'vitest'
import { z } from 'zod'
import { cron } from '../../src/author/cron.ts'
import { defineEvent } from '../../src/author/define-event.ts'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { ManualClock } from '../../src/core/time.ts'
import { readRuntimeFile } from '../../src/project/data-dir/runtime-file.ts'
import { pathsIn } from '../support/paths-in.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { startTestApp } from '../support/test-app.ts'

const entry = z.looseObject({ id: z.string(), path: z.string() })
const storage = z.enum(['storage_a', 'storage_b', 'storage_c'])
const fileCreated = defineEvent('file.created', { data: z.looseObject({ service: storage, file: entry }) })

const look = defineWorkflow({
  id: 'look',
  on: fileCreated,
  where: ({ data }) => data.file.path.startsWith('/in/'),
  run: async ({ event, files }) => {
    const { service, file } = event.data
    const details = await files.get({ service, id: file.id })
    return { name: details.name, size: details.size }
  },
})

test('P2: an event that is delivered again starts no second run, also after a restart', async () => {
  const dataDir = tempFolder()
  const first = await startTestApp({ workflows: [look] }, { dataDir })
  await first.sandbox.storage('storage_a').put('/in/a.txt', 'a')
  const { run } = await first.hear('run.completed')
  const eventId = (await first.app.store.findRun(run))?.eventId ?? ''
  await first.sandbox.deliveries.resend(eventId)
  await first.hear('delivery.received', (notice) => notice.verdict === 'duplicate')
  await first.app.stop()

  const second = await startTestApp({ workflows: [look] }, { dataDir })
  await second.sandbox.deliveries.resend(eventId)
  await second.hear('delivery.received', (notice) => notice.verdict === 'duplicate')
  expect(await second.app.store.listRuns({ limit: 10, eventId })).toHaveLength(1)
})

test('the sample transfer happens at the first start only', async () => {
  const dataDir = tempFolder()
  const first = await startTestApp({}, { dataDir })
  await first.hear('delivery.received', (notice) => notice.type === 'transfer.completed')
  expect(pathsIn(first.sandbox, 'storage_b')).toContain('/inbox/figures.csv')
  await first.app.stop()
  const second = await startTestApp({}, { dataDir })
  expect(second.sandbox.transfers.list()).toHaveLength(1)
})

test('a download URL is never stored: a replay asks for a new one', async () => {
  const urls: string[] = []
  const fetchTwice = defineWorkflow({
    id: 'fetch-twice',
    on: fileCreated,
    where: ({ data }) => data.file.path === '/secret.txt',
    run: async ({ event, files, step }) => {
      const { url } = await files.downloadUrl({ service: event.data.service, id: event.data.file.id })
      urls.push(url.reveal())
      await step.sleep('nap', 100)
      return 'done'
    },
  })
  const { sandbox, app, hear } = await startTestApp({ workflows: [fetchTwice] })
  await sandbox.storage('storage_a').put('/secret.txt', 'x')
  const { run } = await hear('run.completed')
  expect(urls).toHaveLength(2)
  const rows = JSON.stringify([await app.store.findRun(run), await app.store.listSteps(run)])
  for (const url of urls) expect(rows).not.toContain(new URL(url).pathname)
})

test('P3: a cron workflow runs once at its moment, and once for a missed night', async () => {
  const clock = new ManualClock(Date.UTC(2026, 5, 1, 2, 59))
  const nightly = defineWorkflow({
    id: 'nightly',
    on: cron('0 3 * * *'),
    run: ({ tick }) => ({ at: tick.scheduledFor.toISOString(), missed: tick.missed }),
  })
  const dataDir = tempFolder()
  const first = await startTestApp({ workflows: [nightly], clock }, { dataDir })
  const ticked = first.hear('run.completed')
  clock.advance('1m')
  expect(await first.app.store.findRun((await ticked).run)).toMatchObject({
    output: '{"at":"2026-06-01T03:00:00.000Z","missed":0}',
  })
  await first.app.stop()

  clock.advance('49h')
  const second = await startTestApp({ workflows: [nightly], clock }, { dataDir })
  expect(await second.app.store.findRun((await second.hear('run.completed')).run)).toMatchObject({
    output: '{"at":"2026-06-03T03:00:00.000Z","missed":1}',
  })
  expect(await second.app.store.listRuns({ limit: 10 })).toHaveLength(2)
})

test('a running app is ready, and its runtime file has its addresses until it stops', async () => {
  const { app, urls, dataDir } = await startTestApp()
  expect(readRuntimeFile(dataDir)).toMatchObject({ pid: process.pid, receiver: urls.receiver, admin: urls.admin })
  const answer = await fetch(`${urls.admin}/readyz`)
  const checks = { migrated: 'ok', writable: 'ok', endpoints: 'ok', app: 'ok' }
  expect([answer.status, await answer.json()]).toEqual([200, { ready: true, checks, warnings: [] }])
  expect((await fetch(`${urls.admin}/livez`)).status).toBe(200)
  await app.stop()
  expect(readRuntimeFile(dataDir)).toBeNull()
})

test('an app can be stopped more than once', async () => {
  const { app } = await startTestApp()
  await Promise.all([app.stop(), app.stop()])
  await app.stop()
})
