import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { browserTests, inspect } from './support/in-browser.ts'
import { HOSTILE } from './support/open-dashboard.ts'

const { inBrowser, label, open } = browserTests()

inBrowser(`a person walks into a folder, downloads a file and deletes it${label}`, async () => {
  const { page, login, origin, sandbox, app, faults } = await open()
  const storage = sandbox.storage('storage_b')
  const { id } = await storage.put('/q3/ledger.json', '{"sum":7}')
  await login(page)
  const account = page.getByRole('link', { name: 'Open its account page' })
  expect(await account.getAttribute('href')).toBe(`${sandbox.origin}/account`)
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Files' }).click()
  await page.getByRole('link', { name: 'storage_b' }).click()
  await page.getByRole('link', { name: 'q3/' }).click()
  await page.getByRole('link', { name: 'ledger.json' }).click()
  const panel = page.getByRole('complementary', { name: 'File' })
  await panel.getByText(id).waitFor()
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  const saving = page.waitForEvent('download')
  await panel.getByRole('button', { name: 'Download' }).click()
  const saved = await saving
  expect(saved.suggestedFilename()).toBe('ledger.json')
  expect(readFileSync(await saved.path(), 'utf8')).toBe('{"sum":7}')
  expect(asked.filter((url) => !url.startsWith(origin))).toEqual([])
  await panel.getByRole('button', { name: 'Delete…' }).click()
  await page.getByLabel('Reason').fill('a copy is in the archive')
  await page.getByRole('button', { name: 'Delete the file' }).click()
  await page.getByText('This folder is empty.').waitFor()
  expect(storage.list().map(({ path }) => path)).not.toContain('/q3/ledger.json')
  const [deletion, download] = await app.store.listActions({ limit: 2 })
  expect(deletion).toMatchObject({ action: 'files.rm', actor: 'web:ada', reason: 'a copy is in the archive' })
  expect(download).toMatchObject({ action: 'file.download', target: `storage_b:${id}` })
  expect(faults()).toEqual([])
})

inBrowser(`a file that changed meanwhile is not deleted, and the page says so${label}`, async () => {
  const { page, login, sandbox } = await open()
  const storage = sandbox.storage('storage_a')
  const { id } = await storage.put('/a.txt', 'one')
  await login(page, 'admin', `files?file=${id}`)
  await page.getByRole('button', { name: 'Delete…' }).click()
  await storage.put('/a.txt', 'another one')
  await page.getByRole('button', { name: 'Delete the file' }).click()
  await page.getByText('It has changed since it was shown.').waitFor()
  expect(storage.list().map(({ path }) => path)).toContain('/a.txt')
})

inBrowser(`the files are accessible and whole in every look${label}`, async () => {
  const { page, login, origin, sandbox, faults } = await open()
  const { id } = await sandbox.storage('storage_a').put(`/inbox/${HOSTILE}`, 'four')
  await login(page)
  const found: string[] = []
  for (const place of ['files?path=/inbox', `files?path=/inbox&file=${id}`]) {
    await page.goto(`${origin}/${place}`)
    await page.getByRole('table').waitFor()
    found.push(...(await inspect(page, place)))
  }
  await page.getByRole('button', { name: 'Delete…' }).click()
  found.push(...(await inspect(page, 'the dialog of a delete')))
  expect(found).toEqual([])
  expect(faults()).toEqual([])
  expect(await page.title()).not.toBe('pwned')
})
