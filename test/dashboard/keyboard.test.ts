import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { inspectNow } from '../sandbox/support/inspect-page.ts'
import { browserTests } from './support/in-browser.ts'
import { madeOf } from './support/open-dashboard.ts'

const { inBrowser, label, open } = browserTests()

/** The words of the element with the focus. */
const focused = (page: Page) =>
  page.evaluate<string>('document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.innerText')

async function makeMany({ store }: Awaited<ReturnType<typeof open>>['app']): Promise<void> {
  for (let event = 0; event < 60; event++) {
    await store.saveDelivery(madeOf(`many${event}`, 'report.made', ['wait-for-approval']))
  }
}

inBrowser(`a dialog or menu gives the focus back to its button, however it is left${label}`, async () => {
  const { page, login, app, faults } = await open()
  const [run] = await app.store.listRuns({ status: 'failed', limit: 1 })
  await login(page, 'admin', `runs/${run?.id}`)
  const fork = page.getByRole('button', { name: 'Run again from a step…' })
  for (const leave of ['Escape', 'Back']) {
    await fork.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    if (leave === 'Back') await page.getByRole('button', { name: 'Back' }).focus()
    await page.keyboard.press(leave === 'Back' ? 'Enter' : 'Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect([leave, await focused(page)]).toEqual([leave, 'Run again from a step…'])
  }
  await page.keyboard.press('?')
  await page.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await focused(page)).toBe('Run again from a step…')
  await page.keyboard.press('.')
  await expect.poll(() => focused(page)).toBe('Command line')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Command line' }).waitFor({ state: 'hidden' })
  await page.getByText('Copied the curl command.').waitFor()
  expect(faults()).toEqual([])
})

inBrowser(`a page from plain HTTP copies, too${label}`, async () => {
  const { page, login, origin, faults } = await open()
  await login(page)
  await page.addInitScript('Object.defineProperty(navigator, "clipboard", { value: undefined })')
  await page.goto(`${origin}/runs`)
  await page.getByRole('button', { name: 'Copy as…' }).click()
  await page.getByRole('button', { name: 'Command line' }).click()
  await page.getByText('Copied the command.').waitFor()
  await page.getByRole('combobox', { name: 'Search runs' }).focus()
  await page.keyboard.press('Control+V')
  expect(await page.getByRole('combobox', { name: 'Search runs' }).inputValue()).toContain('upshot runs list')
  expect(faults()).toEqual([])
})

inBrowser(`a selection is of the search that shows it${label}`, async () => {
  const { page, login } = await open()
  await login(page, 'admin', 'runs?status=waiting')
  await page.getByRole('checkbox').first().check()
  await page.getByText('1 selected').waitFor()
  await page.getByRole('link', { name: 'Failed', exact: true }).click()
  await page.getByRole('row', { name: /copy-report/ }).waitFor()
  expect(await page.getByText('1 selected').count()).toBe(0)
})

inBrowser(`Back leads to the row and the place in the list that one came from${label}`, async () => {
  const { page, login, app } = await open()
  await makeMany(app)
  await login(page, 'admin', 'runs?workflow=wait-for-approval')
  const row = page.getByRole('row', { name: /wait-for-approval/ }).nth(40)
  await row.focus()
  await row.scrollIntoViewIfNeeded()
  const place = 'JSON.stringify([scrollY, document.activeElement?.querySelector("a")?.href])'
  const before = await page.evaluate<string>(place)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  expect(await page.evaluate<number>('scrollY')).toBe(0)
  await page.goBack()
  await expect.poll(() => page.evaluate<string>(place)).toBe(before)
})

inBrowser(`an event that is too large for its page shows its first part and how to read the rest${label}`, async () => {
  const { page, login, app, faults } = await open()
  const event = madeOf('large', 'report.huge', [], { text: 'much '.repeat(20_000) })
  await app.store.saveDelivery(event)
  await login(page, 'operator', 'events/evt_large')
  await page.getByText('upshot events show evt_large --data').waitFor()
  await page.getByText('much much').waitFor()
  expect(faults()).toEqual([])
})

inBrowser(`the palette means a page or a workflow before a search for its name${label}`, async () => {
  const { page, login, origin } = await open()
  await login(page)
  for (const [typed, place] of [
    ['Runs', 'runs'],
    ['copy-rep', 'workflows/copy-report'],
    ['no such word', 'runs?q=no%20such%20word'],
    ['/in/a.txt', 'history?of=%2Fin%2Fa.txt'],
  ]) {
    await page.keyboard.press('Control+k')
    await page.getByRole('button', { name: 'Overview' }).waitFor()
    await page.keyboard.type(String(typed))
    await page.keyboard.press('Enter')
    await page.waitForURL(`${origin}/${place}`)
  }
})

inBrowser(`a moment that is typed adds nothing to go back to${label}`, async () => {
  const { page, login } = await open()
  await login(page, 'admin', 'runs?since=2026-01-01T00:00:00.000Z')
  const before = await page.evaluate<number>('history.length')
  await page.getByLabel('From', { exact: true }).fill('2020-01-01T00:00')
  await page.waitForURL(/since=2020/)
  expect(await page.evaluate<number>('history.length')).toBe(before)
})

inBrowser(`a list is printed whole, and by itself${label}`, async () => {
  const { page, login, app } = await open()
  await makeMany(app)
  await login(page, 'admin', 'runs?workflow=wait-for-approval')
  await page.getByRole('button', { name: 'Older' }).click()
  await page.getByText('61 shown').waitFor()
  await page.evaluate('scrollTo(0, 0)')
  await expect.poll(() => page.locator('[data-row]').count()).toBe(50)
  await page.pdf()
  expect(await page.locator('[data-row]').count()).toBe(61)
  await page.emulateMedia({ media: 'print' })
  expect(await page.getByRole('navigation', { name: 'Pages' }).isVisible()).toBe(false)
})

inBrowser(`lists fit a tablet, where values have the titles of their columns${label}`, async () => {
  const { page, login, origin } = await open({ width: 768 })
  await login(page)
  const faults: string[] = []
  for (const place of ['runs', 'events', 'deliveries', 'failures', 'workflows', 'approvals', 'system']) {
    await page.goto(`${origin}/${place}`)
    await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
    faults.push(...(await inspectNow(page, place)))
  }
  await page.goto(`${origin}/deliveries`)
  await page.getByRole('row', { name: /report\.made/ }).waitFor()
  const cell = `document.querySelector('td[data-title="Received"]')`
  const title = await page.evaluate(`getComputedStyle(${cell}, '::before').content`)
  expect([faults, title]).toEqual([[], expect.stringMatching(/^"Received"/)])
})

inBrowser(`a narrow page has the way out, too${label}`, async () => {
  const { page, login } = await open({ width: 390 })
  await login(page)
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.getByRole('heading', { name: 'Log in to Upshot' }).waitFor()
})

inBrowser(`a run that waits for people leads to what they decide${label}`, async () => {
  const { page, login, origin, retire, ask, app } = await open()
  await login(page)
  const approval = await retire()
  await ask()
  const [question] = await app.store.listApprovals({ limit: 1, now: Date.now(), workflow: 'ask-first' })
  for (const [workflow, href] of [
    ['retire-files', `/approvals/${approval}`],
    ['ask-first', `/approvals/${question?.id}`],
  ] as const) {
    const [run] = await app.store.listRuns({ limit: 1, workflow })
    await page.goto(`${origin}/runs/${run?.id}`)
    await page.locator(`main a[href="${href}"]`, { hasText: 'Decide' }).waitFor()
    await page.getByText(/goes on in \d+ d at the latest/).waitFor()
  }
})

inBrowser(`Enter on a kind of failure opens what its link opens${label}`, async () => {
  const { page, login, origin } = await open()
  await login(page, 'admin', 'failures')
  const row = page.getByRole('row', { name: /copy-report/ })
  const href = await row.getByRole('link').getAttribute('href')
  await row.focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
  expect(page.url()).toBe(`${origin}${href}`)
})

inBrowser(`text has the size that the reader has set in the browser${label}`, async () => {
  const { page, login, origin } = await open()
  await login(page)
  const browser = await page.context().newCDPSession(page)
  await browser.send('Page.setFontSizes', { fontSizes: { standard: 32, fixed: 26 } })
  await page.setViewportSize({ width: 1440, height: 800 })
  await page.goto(`${origin}/runs`)
  await page.getByRole('table', { name: 'Runs' }).waitFor()
  expect(await page.evaluate('getComputedStyle(document.querySelector("td")).fontSize')).toBe('28px')
  expect(await inspectNow(page, 'large text')).toEqual([])
})
