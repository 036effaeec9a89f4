import { expect } from 'vitest'
import { tempFolder } from '../support/temp-folder.ts'
import { browserTests, inspect } from './support/in-browser.ts'

const { inBrowser, label, open } = browserTests()

inBrowser(`the page System shows the findings of the doctor, with what to do${label}`, async () => {
  const { page, login, origin, faults } = await open({}, { workflowsDir: tempFolder() })
  await login(page, 'operator')
  await page.goto(`${origin}/system`)
  await page.getByRole('button', { name: 'Examine' }).click()
  const doctor = page.getByRole('region', { name: 'Doctor' })
  await doctor.getByRole('status').waitFor()
  const findings = await doctor.getByRole('listitem').allInnerTexts()
  expect(findings.map((text) => text.replace(/\s+/g, ' '))).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^✓ node Node 24/),
      expect.stringMatching(/^✓ app ready: process \d+$/),
      expect.stringMatching(/^✓ endpoint sandbox accepts its own signature, refuses a forged one$/),
      expect.stringMatching(/^! workflows 0 in .* — Create the folder with a module in it/),
    ]),
  )
  expect(await inspect(page, 'findings of the doctor')).toEqual([])
  expect(faults()).toEqual([])
})
