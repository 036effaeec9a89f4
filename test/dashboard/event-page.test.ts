import { expect } from 'vitest'
import { incoming } from '../support/fixtures.ts'
import { browserTests } from './support/in-browser.ts'

const { inBrowser, label, open } = browserTests()

inBrowser(`an event whose id another account has, too, is reached from every page${label}`, async () => {
  const { page, login, origin, app } = await open()
  for (const account of ['default', 'other']) {
    const data = { file: { id: `fil_of_${account}` } }
    await app.store.saveDelivery(incoming('evt_twice', { account, workflows: ['count-reports'], data }))
  }
  await login(page, 'operator')
  const heading = page.getByRole('heading', { level: 1, name: 'file.created' })
  const accounts: string[] = []
  for (const at of [0, 1]) {
    await page.goto(`${origin}/events?q=evt_twice`)
    await page
      .getByRole('row')
      .nth(1 + at)
      .getByRole('link')
      .first()
      .click()
    await heading.waitFor()
    const facts = await page.getByRole('main').innerText()
    const account = /Account\s+(\w+)/.exec(facts)?.[1] ?? ''
    accounts.push(account)
    expect(facts).toContain(`fil_of_${account}`)
    await page.getByRole('link', { name: 'Everything that came of it' }).click()
    await page.getByText('1 run and 1 event shown').waitFor()
    await page.getByRole('link', { name: /count-reports/ }).click()
    await page.getByText(`fil_of_${account}`).first().waitFor()
    await page
      .getByRole('link', { name: /evt_twice|file\.created/ })
      .first()
      .click()
    await heading.waitFor()
    expect(new URL(page.url()).searchParams.get('account')).toBe(account)
  }
  expect(accounts.toSorted()).toEqual(['default', 'other'])
})

inBrowser(`a theme that one tab sets is the theme of the others${label}`, async () => {
  const { page, login, origin } = await open()
  await login(page, 'viewer')
  const other = await page.context().newPage()
  await other.goto(`${origin}/runs`)
  await page.evaluate(() => localStorage.setItem('upshot.theme', 'dark'))
  await other.locator('html[data-theme="dark"]').waitFor()
})
