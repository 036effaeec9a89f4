import { expect } from 'vitest'
import { browserTests, inspect, LOOKS } from './support/in-browser.ts'

const { inBrowser, label, open } = browserTests()

inBrowser.each(LOOKS)(
  `the trace of an event is accessible and whole in $colorScheme at $width px${label}`,
  async (look) => {
    const { page, login, origin, faults } = await open(look)
    await login(page)
    await page.goto(`${origin}/events/evt_report1`)
    await page.getByRole('link', { name: 'Everything that came of it' }).click()
    await page.getByText('started').first().waitFor()
    expect(await page.getByRole('main').textContent()).toContain('2 runs and 1 event shown, and that is all.')
    expect(await inspect(page, 'trace')).toEqual([])
    await page.getByRole('link', { name: /copy-report/ }).click()
    await page.getByRole('heading', { name: 'copy-report', level: 1 }).waitFor()
    expect(faults()).toEqual([])
  },
)
