import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { browserTests, walkTo } from './support/in-browser.ts'
import { mood } from './support/open-dashboard.ts'

const { inBrowser, label, open } = browserTests()

/** Holds the answers to an act until it is let go; resolves with what was sent. */
async function holdActs(page: Page, path: RegExp) {
  const sent: string[] = []
  const held = Promise.withResolvers<void>()
  await page.route(path, async (route) => {
    if (route.request().method() === 'GET') return route.fallback()
    sent.push(route.request().url())
    const response = await route.fetch()
    await held.promise
    await route.fulfill({ response }).catch(() => {})
  })
  return { sent, release: held.resolve }
}

inBrowser(`a dialog does what it said when it was opened, whatever changes meanwhile${label}`, async () => {
  const { page, login, app, faults } = await open()
  await login(page, 'admin', 'workflows/copy-report')
  await page.getByRole('button', { name: 'Pause…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Pause copy-report?' })
  await dialog.getByLabel('Reason').fill('the storage is full')
  await app.store.pauseWorkflow('copy-report', Date.now())
  await page.getByRole('button', { name: 'Resume…', includeHidden: true }).waitFor()
  expect(await dialog.getByLabel('Reason').inputValue()).toBe('the storage is full')
  await dialog.getByRole('button', { name: 'Pause', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  const workflows = await app.store.listWorkflows()
  expect(workflows.find(({ id }) => id === 'copy-report')?.pausedAt).not.toBeNull()
  expect(faults()).toEqual([])
})

inBrowser(`all effects can be stopped before the page knows any name${label}`, async () => {
  const { page, login, origin, app } = await open()
  await login(page)
  await page.route(/\/api\/v1\/(workflows|accounts)/, () => {})
  await page.goto(`${origin}/approvals`)
  await page.getByRole('button', { name: 'Stop effects…' }).click()
  const dialog = page.getByRole('dialog')
  const options = await dialog.getByLabel('What').locator('option').allTextContents()
  expect(options).toEqual(['everything', 'one storage'])
  await dialog.getByLabel('Reason').fill('something is wrong')
  await dialog.getByRole('button', { name: 'Stop them' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(await app.store.listStops()).toMatchObject([{ kind: 'all', reason: 'something is wrong' }])
})

inBrowser(`a dialog whose button goes stays, and shows what the app says${label}`, async () => {
  const { page, login, app } = await open()
  const [run] = await app.store.listRuns({ workflow: 'wait-for-approval', limit: 1 })
  await login(page, 'admin', `runs/${run?.id}`)
  await page.getByRole('button', { name: 'Cancel…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Reason').fill('not needed')
  await app.store.cancelRun(run?.id ?? '', 'by another person', Date.now())
  await page.getByText('canceled').first().waitFor()
  await dialog.getByRole('button', { name: 'Cancel the run' }).click()
  await dialog.getByRole('alert').waitFor()
  // Another page has no part in it, nor has the way back from there.
  await page.goBack()
  await dialog.waitFor({ state: 'detached' })
})

inBrowser(`an act is sent once, and its dialog waits for the answer${label}`, async () => {
  const { page, login } = await open()
  await login(page, 'admin', 'endpoints/sandbox')
  const { sent, release } = await holdActs(page, /\/rotate$/)
  await page.getByRole('button', { name: 'Rotate the secret…' }).click()
  const dialog = page.getByRole('dialog')
  const twice = 'for (let times = 0; times < 2; times++) document.querySelector("dialog form").requestSubmit()'
  await page.evaluate(twice)
  for (const key of ['Escape', 'Escape', 'Escape']) await page.keyboard.press(key)
  expect(await dialog.getByRole('button', { name: 'Back' }).isDisabled()).toBe(true)
  release()
  await dialog.getByText('The secret, shown once').waitFor()
  expect(sent.length).toBe(1)
})

inBrowser(`an answer that comes after the person has left the page leads nowhere, and is told${label}`, async () => {
  const { page, login, origin, app } = await open()
  const [run] = await app.store.listRuns({ status: 'failed', limit: 1 })
  await login(page, 'admin', 'runs')
  await page.getByRole('link', { name: /copy-report/ }).click()
  const { release } = await holdActs(page, /\/fork$/)
  await page.getByRole('button', { name: 'Run again from a step…' }).click()
  await page.getByRole('button', { name: 'Make the new run' }).click()
  await page.goBack()
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
  release()
  await page.getByText('Make the new run: done.').waitFor()
  expect(page.url()).toBe(`${origin}/runs`)
  mood.isBroken = false
  await page.goto(`${origin}/runs/${run?.id}`)
  await page.getByRole('button', { name: 'Retry from the failed step' }).click()
  await page.getByText('The run goes on.').waitFor()
})

inBrowser(`what is copied is one word of a shell, whatever the name of a file${label}`, async () => {
  const { page, login, origin } = await open()
  await page.addInitScript('globalThis.copied = []; navigator.clipboard.writeText = async (text) => copied.push(text)')
  await login(page)
  const copy = async (what: string) => {
    await page.getByRole('button', { name: 'Copy as…' }).click()
    await page.getByRole('button', { name: what }).click()
    return page.evaluate<string>('copied.at(-1)')
  }
  const path = `/in/$(reboot) it's.pdf`
  await page.goto(`${origin}/history?of=${encodeURIComponent(path)}`)
  expect(await copy('Command line')).toBe(`upshot events list --path '/in/$(reboot) it'\\''s.pdf'`)
  expect(await copy('curl')).toContain(`it'\\''s.pdf'`)
  await page.goto(`${origin}/effects?file=${encodeURIComponent(path)}`)
  expect(await copy('Command line')).toBe(`upshot effects list --file '/in/$(reboot) it'\\''s.pdf'`)
})

inBrowser(`a filter that the page does not know is shown as it is${label}`, async () => {
  const { page, login } = await open()
  await login(page, 'admin', 'runs?workflow=long-gone&since=3d')
  await page.getByText('No run fits these filters.').waitFor()
  const [workflow, range] = [page.getByLabel('Workflow'), page.getByLabel('Range of time')]
  expect([await workflow.inputValue(), await range.inputValue()]).toEqual(['long-gone', '3d'])
})

inBrowser(`times are told by the clock of the app where that of the browser is wrong${label}`, async () => {
  const { page, login } = await open()
  await page.clock.install({ time: Date.now() - 3 * 3_600_000 })
  await login(page, 'admin', 'runs')
  const row = page.getByRole('row', { name: /copy-report/ })
  await row.getByText(/^(now|\d+ s ago)$/).waitFor()
})

inBrowser(`a key that is held down acts once, and rows of another question are not selected${label}`, async () => {
  const { page, login } = await open()
  await login(page, 'admin', 'runs')
  await page.getByRole('row', { name: /copy-report/ }).waitFor()
  for (let times = 0; times < 3; times++) await page.keyboard.down('t')
  await page.getByRole('button', { name: 'Theme: light' }).waitFor()
  const held = Promise.withResolvers<void>()
  await page.route(/\/runs\?.*status=canceled/, (route) => held.promise.then(() => route.continue()))
  await page.getByRole('link', { name: 'Canceled', exact: true }).click()
  await page.locator('table.stale').waitFor()
  expect(await page.getByRole('checkbox').first().isDisabled()).toBe(true)
  await page.locator('tr[data-row]').first().focus()
  await page.keyboard.press('x')
  expect(await page.getByText('1 selected').count()).toBe(0)
  held.resolve()
  await page.getByText('No run fits these filters.').waitFor()
})

inBrowser(`one subject never shows what was found of another, and an export is of what is shown${label}`, async () => {
  const { page, login, origin } = await open()
  await login(page, 'admin', 'history?of=fil_1')
  const entry = page.getByRole('main').getByRole('link', { name: 'report.made' })
  await entry.waitFor()
  await page.route(/\/subjects\/fil_2/, () => {})
  await walkTo(page, `${origin}/history?of=fil_2`)
  await page.getByRole('heading', { name: 'fil_2' }).waitFor()
  expect(await entry.count()).toBe(0)
  await walkTo(page, `${origin}/history`)
  await page.getByText('No file, path or transfer is named.').waitFor()
  await page.goto(`${origin}/effects?workflow=copy-report&since=24h`)
  const asked = page.waitForRequest(/\/effects\/export/)
  await page.getByRole('button', { name: 'Export' }).click()
  expect(new URL((await asked).url()).search).toBe('?workflow=copy-report&since=24h')
})

inBrowser(`the skip link leads to the content of the page that is open${label}`, async () => {
  const { page, login, origin } = await open()
  await login(page, 'admin', 'runs?status=failed')
  await page.getByRole('row', { name: /copy-report/ }).waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('content')
  expect(page.url()).toBe(`${origin}/runs?status=failed`)
})
