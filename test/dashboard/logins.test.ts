import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { inspectNow } from '../sandbox/support/inspect-page.ts'
import { browserTests } from './support/in-browser.ts'

const { inBrowser, label, open } = browserTests()

type Opened = Awaited<ReturnType<typeof open>>

/** The page of the failed run, with words typed into a form. */
async function openForm({ app, page, login }: Opened) {
  const [run] = await app.store.listRuns({ status: 'failed', limit: 1 })
  await login(page, 'operator', `runs/${run?.id}`)
  await page.getByRole('button', { name: 'Mark as resolved…' }).click()
  await page.getByLabel('Reason').fill('copied by hand')
}

/** Every login ends, as with a removed one or one that is too old. */
async function endLogins({ app }: Opened): Promise<void> {
  for (const { id } of await app.store.listSessions(Date.now())) await app.store.endSession(id)
}

const formOf = (page: Page) => page.getByRole('dialog', { name: /^Is this run of copy-report resolved/ })

async function logInAgain(page: Page, link: string): Promise<void> {
  const cover = page.getByRole('dialog', { name: 'Your login has ended' })
  await cover.waitFor()
  for (const key of ['Escape', 'Escape']) await page.keyboard.press(key)
  expect(await inspectNow(page, 'the end of a login')).toEqual([])
  // The whole link does, too.
  await cover.getByRole('textbox').fill(link)
  await cover.getByRole('button', { name: 'Log in' }).click()
  await cover.waitFor({ state: 'detached' })
}

inBrowser(`a login that ends while a form is filled is renewed over it, and the form is kept${label}`, async () => {
  const opened = await open()
  const { page, makeLink, faults } = opened
  await openForm(opened)
  await endLogins(opened)
  await logInAgain(page, await makeLink('operator'))
  expect(await formOf(page).getByLabel('Reason').inputValue()).toBe('copied by hand')
  await formOf(page).getByRole('button', { name: 'Mark as resolved', exact: true }).click()
  await page.getByText(/Resolved by web:\S+ .*: copied by hand/).waitFor()
  expect(faults()).toEqual([])
})

inBrowser(`another role that logs in finds nothing of the page of the one before${label}`, async () => {
  const opened = await open()
  const { page, makeLink } = opened
  await openForm(opened)
  await endLogins(opened)
  await logInAgain(page, await makeLink('viewer'))
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  expect(await formOf(page).count()).toBe(0)
  expect(await page.getByRole('button', { name: 'Mark as resolved…' }).count()).toBe(0)
})

inBrowser(`a login leads to the page that was asked for, and each tab follows it and its end${label}`, async () => {
  const { page, makeLink, origin } = await open()
  await page.goto(`${origin}/runs?status=failed`)
  await page.getByRole('heading', { name: 'Log in to Upshot' }).waitFor()
  const other = await page.context().newPage()
  await other.goto(`${origin}/events#content`)
  const code = other.getByRole('textbox')
  await code.waitFor()
  expect([await code.inputValue(), await other.getByRole('alert').count()]).toEqual(['', 0])
  await code.fill(await makeLink('viewer'))
  await other.getByRole('button', { name: 'Log in' }).click()
  await other.getByRole('heading', { name: 'Events', level: 1 }).waitFor()
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
  expect(page.url()).toBe(`${origin}/runs?status=failed`)
  await other.getByRole('button', { name: 'Log out' }).click()
  for (const tab of [page, other]) await tab.getByRole('heading', { name: 'Log in to Upshot' }).waitFor()
})

inBrowser(`a link that is opened while logged in replaces the login, and a used one says so${label}`, async () => {
  const { page, login, makeLink } = await open()
  await login(page, 'admin')
  const link = await makeLink('viewer')
  await page.goto(link)
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  await page.goto(link)
  await page.getByText(/You are logged in as .*, with the role viewer/).waitFor()
  await page.getByRole('alert').waitFor()
  await page.getByRole('link', { name: 'Stay so' }).click()
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
})
