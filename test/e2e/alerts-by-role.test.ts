import { expect, onTestFinished, test } from 'vitest'
import { App } from '../../src/app/app.ts'
import { EMPTY_BOOK } from '../../src/core/alerts/alert-book.ts'
import { openDataDir } from '../support/open-data-dir.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { NO_SERVICE, testConfig } from '../support/test-config.ts'
import { RULE } from '../watch/alerts/support/open-alerts.ts'

test.each([
  ['scheduler', true],
  ['worker', false],
  ['receiver', false],
] as const)('a process of the role %s watches for alerts: %s', async (role, watches) => {
  const dataDir = tempFolder()
  const alerts = { rules: [{ ...RULE, to: [] }], channels: {} }
  const app = await App.create(testConfig(dataDir, { role, alerts, service: NO_SERVICE }), { workflows: [] })
  onTestFinished(() => app.stop())
  // A watch begins by removing the books of rules that are gone, and its stop waits for that.
  await app.store.saveAlertBook('gone', EMPTY_BOOK, 0)
  await app.start()
  await app.stop()
  const store = openDataDir({ dataDir, secretKey: null })
  onTestFinished(() => store.close())
  expect((await store.loadAlertBook('gone')) === null).toBe(watches)
})
