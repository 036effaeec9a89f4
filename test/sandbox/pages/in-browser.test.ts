import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator } from 'playwright-core'
import { expect } from 'vitest'
import { TABS } from '../../../src/sandbox/pages/layout.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { chromiumTests, type Tab, type TabOptions } from '../support/browser.ts'
import { inspectNow } from '../support/inspect-page.ts'
import { openReceiver } from '../support/open-receiver.ts'
import { openSandbox } from '../support/open-sandbox.ts'

const { inBrowser, label, openTab } = chromiumTests()

async function open(options: TabOptions = {}) {
  const sandbox = await openSandbox()
  return { sandbox, ...(await openTab(options)) }
}

/** Presses a button by its accessible name and waits for the next page. */
async function press(page: Tab['page'], name: string | RegExp): Promise<void> {
  await clickThrough(page, page.getByRole('button', { name }).first())
}

/**
 * Clicks and waits for the next page. The listener is set first, so that no earlier `load` counts.
 */
async function clickThrough(page: Tab['page'], what: Locator): Promise<void> {
  const loaded = page.waitForEvent('load')
  await what.click()
  await loaded
}

/** A question without the invisible marks that keep the direction of a name to itself. */
const withoutIsolates = (text: string) => text.replace(/[\u2068\u2069]/g, '')

inBrowser(`a person creates, edits and revokes a key${label}`, async () => {
  const { sandbox, page, complaints } = await open()
  await page.goto(`${sandbox.origin}/account/keys`)
  await page.getByLabel('Name').fill('made by hand')
  await page.getByLabel('Scope').selectOption('read-only')
  await press(page, 'Generate')
  expect(sandbox.keys.list()).toMatchObject([{ name: 'made by hand', scope: 'read-only' }])
  expect(await page.getByRole('table').textContent()).toContain('made by hand')

  await clickThrough(page, page.getByRole('link', { name: /^…/ }))
  await page.getByLabel('Scope').selectOption('custom')
  await page.getByLabel('files:delete').check()
  await page.getByLabel('storage_b').uncheck()
  await press(page, 'Save')
  expect(sandbox.keys.list()[0]?.scope).toEqual({
    custom: ['files:read', 'files:delete'],
    storages: ['storage_a', 'storage_c'],
  })
  await clickThrough(page, page.getByRole('link', { name: 'All keys' }))
  await press(page, 'Revoke made by hand')
  expect(sandbox.keys.list()).toMatchObject([{ revokedAt: expect.any(String) }])
  expect(complaints.map(withoutIsolates)).toEqual(['asked: Revoke the key "made by hand" for good?'])
})

inBrowser(`a person uploads, transfers and deletes files and folders${label}`, async () => {
  const { sandbox, page, complaints } = await open()
  const local = join(tempFolder(), 'from my desk.txt')
  writeFileSync(local, 'uploaded')
  await page.goto(`${sandbox.origin}/account/storages/storage_a`)
  expect(await page.textContent('main')).toContain('This folder is empty.')
  await page.getByLabel('File').setInputFiles(local)
  await press(page, 'Upload here')
  expect((await sandbox.storage('storage_a').read('/from my desk.txt')).toString()).toBe('uploaded')

  await sandbox.storage('storage_a').put('/in/deep/x.txt', 'x')
  await page.getByLabel('Path').first().fill('/in')
  await page.getByLabel('Path').last().fill('/archive/')
  await press(page, 'Transfer')
  await expect.poll(() => sandbox.events.list({ type: 'transfer.completed' }).length).toBe(1)
  expect((await sandbox.storage('storage_b').read('/archive/in/deep/x.txt')).toString()).toBe('x')
  await press(page, 'Delete from my desk.txt')
  await press(page, 'Delete in')
  expect(sandbox.storage('storage_a').list()).toEqual([])
  expect(complaints.map(withoutIsolates)).toEqual([
    'asked: Delete /from my desk.txt for good?',
    'asked: Delete /in and everything in it for good?',
  ])
})

inBrowser(`answering no to a question deletes nothing${label}`, async () => {
  const { sandbox, page } = await open({ answer: 'no' })
  await sandbox.storage('storage_a').put('/kept.txt', 'kept')
  await page.goto(`${sandbox.origin}/account/storages`)
  await page.getByRole('button', { name: 'Delete kept.txt' }).click()
  await page.getByRole('button', { name: 'Delete kept.txt' }).click()
  expect(sandbox.storage('storage_a').list()).toHaveLength(1)
})

inBrowser(`a person changes settings, advances the clock, sets faults and resets${label}`, async () => {
  const { sandbox, page, complaints } = await open()
  const before = sandbox.clock.now()
  await page.goto(`${sandbox.origin}/account`)
  await page.getByLabel('Plan').selectOption('pro')
  await page.getByLabel('Form of replies').selectOption('mixed')
  await page.getByLabel('Folders can be deleted').check()
  await press(page, 'Save settings')
  const changed = { plan: 'pro', form: 'mixed', pagination: true, deleteFolders: true, hostileIds: false }
  expect(sandbox.settings.get()).toMatchObject(changed)
  await page.getByLabel('Forward by').fill('2h')
  await press(page, 'Advance')
  expect(sandbox.clock.now()).toBe(before + 7_200_000)
  await press(page, "Return to this machine's time")
  expect(sandbox.clock.mode).toBe('real')

  await page.goto(`${sandbox.origin}/account/faults`)
  await page.locator('select[name=on]').selectOption('files.list')
  await press(page, 'Set')
  await page.getByLabel('Rule as JSON').fill('{"on":"delivery","drop":true}')
  await clickThrough(page, page.getByRole('button', { name: 'Set' }).last())
  expect(sandbox.faults.list()).toMatchObject([{ status: 503, times: 2 }, { drop: true }])
  await page.goto(`${sandbox.origin}/account`)
  await sandbox.keys.create({ name: 'kept' })
  await press(page, 'Reset the sandbox')
  expect([sandbox.faults.list(), sandbox.keys.list().length]).toEqual([[], 1])
  expect(complaints).toEqual(['asked: Reset everything but keys and webhooks?'])
})

inBrowser(`a person registers a webhook, switches it off and removes it${label}`, async () => {
  const { sandbox, page } = await open()
  const receiver = await openReceiver()
  await page.goto(`${sandbox.origin}/account/webhooks`)
  await page.getByLabel('Address').fill(receiver.url)
  await page.getByLabel('Events').fill('file.*, transfer.failed')
  await page.getByLabel('storage_c').uncheck()
  await page.getByLabel('Secret').fill('a secret of the tests')
  await press(page, 'Register')
  expect(sandbox.webhooks.list()).toMatchObject([
    { events: ['file.*', 'transfer.failed'], storages: ['storage_a', 'storage_b'], secrets: ['a secret of the tests'] },
  ])
  await press(page, /^Switch off/)
  expect(sandbox.webhooks.list()).toMatchObject([{ enabled: false }])
  await press(page, /^Remove/)
  expect(sandbox.webhooks.list()).toEqual([])
})

inBrowser(`lists fit a tablet, and a page that is missing is named as such${label}`, async () => {
  const { sandbox, page } = await open({ width: 768 })
  await sandbox.keys.create({ name: 'a key with a long name, of the north-west region' })
  for (const path of ['keys', 'webhooks', 'transfers', 'audit']) {
    await page.goto(`${sandbox.origin}/account/${path}`)
    expect(await inspectNow(page, path)).toEqual([])
  }
  await page.goto(`${sandbox.origin}/account/nowhere`)
  expect(await page.title()).toBe('Nothing to show · Sandbox account')
})

inBrowser(`a page shows why the control API refused a call${label}`, async () => {
  const { sandbox, page } = await open()
  await page.goto(`${sandbox.origin}/account`)
  await page.getByLabel('Forward by').fill('soon')
  await page.getByRole('button', { name: 'Advance' }).click()
  await expect.poll(() => page.getByRole('alert').textContent()).toContain('"soon" is not a duration')
  expect(await page.getByRole('button', { name: 'Advance' }).isEnabled()).toBe(true)
})

inBrowser(`a page can be read without JavaScript${label}`, async () => {
  const { sandbox, page } = await open({ javaScriptEnabled: false })
  await sandbox.storage('storage_a').put('/plain.txt', 'x')
  await page.goto(`${sandbox.origin}/account/storages`)
  expect(await page.textContent('table')).toContain('plain.txt')
  expect(await page.textContent('main')).toContain('JavaScript is off')
})

inBrowser.each([
  { width: 1280, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
] as const)(`fits $width pixels in $colorScheme, names every control and can be read${label}`, async (options) => {
  const { sandbox, page, complaints } = await open(options)
  const longName = `${'very-long-'.repeat(9)}name`
  const receiver = await openReceiver()
  await sandbox.keys.create({ name: longName })
  await sandbox.webhooks.add({ url: `${receiver.url}/${longName}${longName}` })
  await sandbox.storage('storage_a').put(`/${longName}.txt`, 'x')
  await sandbox.storage('storage_a').put('/invoice\u202Efdp.exe', 'x')
  await sandbox.storage('storage_a').put('/דוח שנתי.pdf', 'x')
  await (await sandbox.transfers.start({ from: ['storage_a', '/'], to: ['storage_b', `/${longName}`], failAt: 0 })).done
  await sandbox.faults.add({ on: 'delivery', drop: true, type: longName })
  await sandbox.deliveries.until({ state: 'delivered', count: 2 })
  for (const path of [...Object.keys(TABS), '/account/keys/none', `/account/events/${sandbox.events.list()[0]?.id}`]) {
    await page.goto(sandbox.origin + path)
    expect(await inspectNow(page, path)).toEqual([])
  }
  expect(complaints.filter((text) => !text.includes('404'))).toEqual([])
})
