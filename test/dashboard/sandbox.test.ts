import { expect } from 'vitest'
import { browserTests, inspect } from './support/in-browser.ts'

const { inBrowser, label, open } = browserTests()

inBrowser(`a person sets a fault, moves the clock and starts a transfer${label}`, async () => {
  const { page, login, sandbox, faults } = await open()
  await sandbox.storage('storage_a').put('/inbox/hello.txt', 'Hello.')
  await login(page)
  for (const key of ['g', 'b']) await page.keyboard.press(key)
  await page.getByRole('button', { name: 'Add a fault…' }).click()
  await page.getByLabel('Where').selectOption('delivery')
  await page.getByLabel('What').selectOption('Send it twice')
  await page.getByRole('button', { name: 'Add the fault' }).click()
  await page.getByRole('row', { name: /delivery Send it twice 0 of 1 times/ }).waitFor()
  expect(sandbox.faults.list()).toMatchObject([{ on: 'delivery', duplicate: true, times: 1 }])
  await page.getByLabel('Advance the clock by').fill('2h')
  await page.getByRole('button', { name: 'Advance' }).click()
  await page.getByText(/ahead/).waitFor()
  await page.getByRole('button', { name: 'Transfer…' }).click()
  await page.getByRole('button', { name: 'Start the transfer' }).click()
  await page.getByRole('row', { name: /completed .*hello\.txt/ }).waitFor()
  expect(
    sandbox
      .storage('storage_b')
      .list()
      .map(({ path }) => path),
  ).toContain('/inbox/hello.txt')
  await page.getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No fault is set.').waitFor()
  expect(faults()).toEqual([])
})

inBrowser(`the sandbox page and its dialogs are accessible and whole in every look${label}`, async () => {
  const { page, login, origin, sandbox, faults } = await open()
  sandbox.faults.add({ on: 'files.download', status: 503, times: 2 })
  await login(page)
  const found: string[] = []
  await page.goto(`${origin}/sandbox`)
  found.push(...(await inspect(page, 'sandbox')))
  for (const name of ['Add a fault…', 'Put a file…', 'Transfer…', 'Send an event…']) {
    await page.getByRole('button', { name }).click()
    found.push(...(await inspect(page, name)))
    await page.keyboard.press('Escape')
  }
  expect(found).toEqual([])
  expect(faults()).toEqual([])
})
