import { expect } from 'vitest'
import { beginSweep, newState } from '../../src/core/service/sweep/sweep-state.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { browserTests, inspect } from './support/in-browser.ts'

const { inBrowser, label, open } = browserTests()

inBrowser(`the page System shows the findings of the doctor, with what to do${label}`, async () => {
  const { page, login, faults } = await open({}, { workflowsDir: tempFolder() })
  await login(page, 'operator', 'system')
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

inBrowser(`the page System shows how far a sweep is that is under way${label}`, async () => {
  const { app, page, login, faults } = await open()
  const { store } = app
  const key = { account: 'default', storage: 'storage_a' } as const
  const plan = { ...key, path: '/', recursive: true, everyMs: 1, budget: 0.1, graceMs: 1, repair: 'report' } as const
  const state = { ...beginSweep(newState(plan, null), Date.now()), seen: 300, total: 900 }
  await store.saveSweep({ ...key, state, version: 0, forgottenTo: null })
  await login(page, 'viewer', 'system')
  const sweeps = page.getByRole('table', { name: 'Sweeps' })
  await sweeps.getByText('listing, 300 of 900').waitFor()
  expect(await sweeps.getByRole('progressbar').getAttribute('value')).toBe('300')
  expect(await inspect(page, 'sweeps under way')).toEqual([])
  const ended = { at: Date.now(), fault: 'the listing changed' }
  await store.saveSweep({ ...key, state: { ...state, phase: 'idle', ended }, version: 1, forgottenTo: null })
  await sweeps.getByText('the listing changed').waitFor()
  expect(await sweeps.getByText('idle').count()).toBe(1)
  expect(faults()).toEqual([])
})
