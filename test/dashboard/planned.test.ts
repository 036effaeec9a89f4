import { expect } from 'vitest'
import { LOGIN_CODE_MS } from '../../src/core/access/session.ts'
import { hashSecret } from '../../src/core/access/token.ts'
import { openStaging } from '../e2e/support/staging.ts'
import { haveStatus } from '../support/await-runs.ts'
import { browserTests, inspect } from './support/in-browser.ts'

const { inBrowser, label, open } = browserTests()

const TIDY = `async ({ files }) => {
  const { items } = await files.snapshot({ service: 'storage_a', path: '/in' })
  for (const file of items) await files.delete(file)
}`

inBrowser(`each page says that nothing acts, and a planned run shows what it would do${label}`, async () => {
  const { page } = await open()
  const { start } = await openStaging(TIDY)
  const { app, admin, deliver, runs } = await start('plan')
  await deliver('evt_1')
  const [run] = await runs(haveStatus({ planned: 1 }))
  const login = {
    hash: hashSecret('a-code'),
    name: 'ada',
    role: 'operator',
    expiresAt: Date.now() + LOGIN_CODE_MS,
  } as const
  await app.store.saveLoginCode(login)
  await page.goto(`${admin}/login#a-code`)
  await page.getByText('Nothing acts here: runs are only planned (UPSHOT_EFFECTS=plan).').waitFor()

  await page.goto(`${admin}/runs/${run?.id}`)
  const list = page.getByRole('list', { name: 'What it would do' })
  await list.waitFor()
  const told = (await list.innerText()).replace(/\s+/g, ' ')
  expect(told).toBe('would delete /in/a.txt 5 B would delete /in/b.txt 5 B')
  expect(await page.getByText('Planned only: nothing of this was done.').count()).toBe(1)
  expect(await page.locator('main').innerText()).toContain('would complete: 2 deletes')
  expect(await page.locator('main').innerText()).not.toMatch(/\bdeleted \/in/)
  expect(await inspect(page, 'planned run')).toEqual([])
})
