import { expect } from 'vitest'
import { planCron } from '../../src/core/service/plan-schedule.ts'
import { browserTests, inspectNow, LOOKS } from './support/in-browser.ts'

const { inBrowser, open, label } = browserTests()

inBrowser.each(LOOKS)(
  `schedules are edited, filled and removed without a fault of access, $width px $colorScheme${label}`,
  async (look) => {
    const { page, login, origin, app } = await open(look)
    await login(page)
    const made = { owner: 'person', madeBy: 'ann', workflow: 'copy-report', input: '1' } as const
    const plan = planCron('30 2 * * *', { timezone: 'Europe/Berlin' })
    await app.store.addSchedule({ ...made, id: 'sch_1', name: 'acme-nightly', plan }, Date.now())
    await page.goto(`${origin}/schedules`)
    await page.getByText('acme-nightly').first().waitFor()
    const faults = await inspectNow(page, 'schedules')
    for (const name of ['Add…', 'Edit…', 'Backfill…', 'Remove…']) {
      await page.getByRole('button', { name }).first().click()
      await page.locator('dialog').waitFor()
      faults.push(...(await inspectNow(page, name)))
      if (name === 'Remove…') await page.getByRole('button', { name: 'Remove', exact: true }).click()
      else await page.keyboard.press('Escape')
      await page.locator('dialog').waitFor({ state: 'detached' })
    }
    await page.getByText('There is no schedule.').waitFor()
    expect(faults).toEqual([])
    expect(await app.store.findSchedule('acme-nightly')).toBeNull()
  },
)
