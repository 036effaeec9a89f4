import { expect } from 'vitest'
import { planCron } from '../../src/core/service/plan-schedule.ts'
import { inspectNow } from '../sandbox/support/inspect-page.ts'
import { browserTests, LOOKS } from './support/in-browser.ts'

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
    await page.getByText('No schedule yet.').waitFor()
    expect(faults).toEqual([])
    expect(await app.store.findSchedule('acme-nightly')).toBeNull()
  },
)

inBrowser(`a schedule is added, edited and filled by its forms${label}`, async () => {
  const { page, login, app, faults } = await open(LOOKS[0])
  await login(page, 'admin', 'schedules')
  const dialog = page.locator('dialog')
  const fill = async (button: string, texts: Record<string, string>, submit: string) => {
    await page.getByRole('button', { name: button }).first().click()
    for (const [field, text] of Object.entries(texts)) {
      // A label has the words of its choices, too.
      const control = dialog.getByLabel(new RegExp(`^${field}`))
      if (field === 'Workflow') await control.selectOption(text)
      else await control.fill(text)
    }
    await page.getByRole('button', { name: submit, exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
  }
  const times = { 'Cron line': '30 2 * * *', 'Time zone': 'Europe/Berlin' }
  await fill('Add…', { Name: 'acme-nightly', Workflow: 'count-reports', ...times, 'Input as JSON': '2' }, 'Add')
  await page.getByRole('heading', { name: 'acme-nightly' }).waitFor()
  expect(await app.store.findSchedule('acme-nightly')).toMatchObject({
    workflow: 'count-reports',
    input: '2',
    owner: 'person',
    plan: { expression: '30 2 * * *', timezone: 'Europe/Berlin' },
  })

  await fill('Edit…', { 'Cron line': '0 4 * * 1', 'Input as JSON': '7' }, 'Save')
  await page.getByText('0 4 * * 1').waitFor()
  expect(await app.store.findSchedule('acme-nightly')).toMatchObject({
    input: '7',
    plan: { expression: '0 4 * * 1', timezone: 'Europe/Berlin' },
  })

  await app.store.addSchedule(
    {
      id: 'sch_0',
      name: 'a-first',
      owner: 'person',
      madeBy: 'ann',
      workflow: 'count-reports',
      input: '1',
      plan: planCron('0 3 * * *', { accounts: 'each' }),
    },
    Date.now(),
  )
  await page.reload()
  await page.getByRole('heading', { name: 'a-first' }).waitFor()
  await fill('Edit…', { Accounts: '' }, 'Save')
  expect(await app.store.findSchedule('a-first')).toMatchObject({ plan: { accounts: ['default'] } })
  await app.store.removeSchedule({ id: 'sch_0', name: 'a-first' })
  await page.getByRole('heading', { name: 'a-first' }).waitFor({ state: 'detached' })

  await fill('Backfill…', { From: '2026-01-01T00:00', To: '2026-01-20T00:00' }, 'Begin the backfill')
  await page.getByText('a minute', { exact: false }).first().waitFor()
  const backfill = (await app.store.listSchedules({ limit: 10 })).find(({ plan }) => 'from' in plan)
  expect(backfill?.plan).toMatchObject({
    from: Date.parse('2026-01-01T00:00'),
    to: Date.parse('2026-01-20T00:00'),
    perMinute: 10,
  })
  expect(faults()).toEqual([])
})
