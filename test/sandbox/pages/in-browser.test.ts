import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Locator } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { TABS } from '../../../src/sandbox/pages/layout.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { findBrowser, openTab, startBrowser, type Tab, type TabOptions } from '../support/browser.ts'
import { openReceiver } from '../support/open-receiver.ts'
import { openSandbox } from '../support/open-sandbox.ts'

// A browser is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const found = findBrowser()
let browser: Browser | undefined
const label = found === undefined ? ' (skipped: no Chromium on this machine)' : ''
const inBrowser = test.skipIf(found === undefined)

beforeAll(async () => {
  if (found !== undefined) browser = await startBrowser(found)
})

afterAll(() => browser?.close())

async function open(options: TabOptions = {}) {
  if (!browser) throw new Error('There is no browser.')
  const sandbox = await openSandbox()
  return { sandbox, ...(await openTab(browser, options)) }
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

const NASTY = `<img src=x onerror=alert(1)>"'&`

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
    ...{ custom: ['files:read', 'files:delete'], storages: ['storage_a', 'storage_c'] },
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

inBrowser(`a page shows why the control API refused a call${label}`, async () => {
  const { sandbox, page } = await open()
  await page.goto(`${sandbox.origin}/account`)
  await page.getByLabel('Forward by').fill('soon')
  await page.getByRole('button', { name: 'Advance' }).click()
  await expect.poll(() => page.getByRole('alert').textContent()).toContain('"soon" is not a duration')
  expect(await page.getByRole('button', { name: 'Advance' }).isEnabled()).toBe(true)
})

inBrowser(`a page runs nothing that hides in a name${label}`, async () => {
  const { sandbox, page, complaints } = await open()
  await sandbox.keys.create({ name: NASTY })
  await sandbox.storage('storage_a').put(`/${NASTY}`, 'x')
  sandbox.events.emit(NASTY, { nasty: `</pre><script>alert(1)</script>${NASTY}` })
  for (const path of ['keys', 'storages', 'deliveries', `events/${sandbox.events.list().at(-1)?.id}`]) {
    await page.goto(`${sandbox.origin}/account/${path}`)
    expect(await page.locator('img, script:not([src])').count()).toBe(0)
  }
  expect(complaints).toEqual([])
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
    expect([path, await page.evaluate(OVERFLOW)]).toEqual([path, 0])
    expect([path, await page.evaluate(NAMELESS)]).toEqual([path, []])
    expect([path, await page.evaluate(FAINT)]).toEqual([path, []])
  }
  expect(complaints.filter((text) => !text.includes('404'))).toEqual([])
})

/** Pixels by which the page is wider than the window. */
const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'

/** Controls without an accessible name. */
const NAMELESS = `[...document.querySelectorAll('input:not([type=hidden]), select, textarea, button, a')]
  .filter((control) => !(control.labels?.length || control.textContent.trim() || control.ariaLabel))
  .map((control) => control.outerHTML)`

/** Texts with a contrast below 4.5 to 1 (WCAG 2.2, 1.4.3). */
const FAINT = `(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
  const rgb = (color) => {
    canvas.clearRect(0, 0, 1, 1)
    canvas.fillStyle = color
    canvas.fillRect(0, 0, 1, 1)
    return [...canvas.getImageData(0, 0, 1, 1).data]
  }
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const color = rgb(getComputedStyle(each).backgroundColor)
      if (color[3] === 255) return color
    }
    return [255, 255, 255, 255]
  }
  const light = (color) => {
    const linear = (part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
    const [r, g, b] = color.map((part) => linear(part / 255))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  return [...document.querySelectorAll('body *')]
    .filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()))
    .filter((element) => {
      const [a, b] = [light(rgb(getComputedStyle(element).color)), light(behind(element))].sort((x, y) => y - x)
      return (a + 0.05) / (b + 0.05) < 4.5
    })
    .map((element) => element.outerHTML.slice(0, 80))
})()`
