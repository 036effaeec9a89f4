import { expect, onTestFinished, test } from 'vitest'
import { App } from '../../src/app/app.ts'
import { openAdmin } from '../support/admin-client.ts'
import { queueRun } from '../support/fixtures.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { NO_SERVICE, testConfig } from '../support/test-config.ts'

test('a process with the role admin answers questions, and takes no delivery and no run', async () => {
  const dataDir = tempFolder()
  const app = await App.create(testConfig(dataDir, { role: 'admin', service: NO_SERVICE }))
  onTestFinished(() => app.stop())
  const { admin, receiver } = await app.start()
  expect(receiver).toBe('')
  expect((await fetch(`${admin}/readyz`)).status).toBe(200)
  const run = await queueRun(app.store)
  const client = openAdmin(dataDir, admin)
  expect((await client.call('GET /runs')).items).toMatchObject([{ id: run, status: 'pending' }])
  expect((await client.call('GET /system')).processes).toMatchObject([{ role: 'admin', receiverUrl: null }])
})
