import type { Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { browserTests, inspect } from './support/in-browser.ts'
import { comparison, madeOf } from './support/open-dashboard.ts'

const { inBrowser, label, open } = browserTests()

inBrowser(
  `the bar of a run moves by itself in the list and on its page, and its tags lead to its kind${label}`,
  async () => {
    const { page, login, origin, app, hear, faults } = await open()
    onTestFinished(() => comparison.end.resolve())
    for (const [n, customer] of ['acme corp', 'globex'].entries()) {
      const delivery = madeOf(`compared${n}`, 'report.compared', ['compare-folders'], { customer })
      await app.store.saveDelivery({ ...delivery, priorities: { 'compare-folders': 1_000 } })
    }
    app.notices.publish({ kind: 'run.queued', count: 2 })
    await hear('run.progress')
    await login(page, 'admin', 'runs?workflow=compare-folders')
    await barsAt(page, '34').nth(1).waitFor()
    expect(await barsAt(page, '34').first().getAttribute('aria-valuetext')).toMatch(/^341 of 1,000 files compared/)
    expect(await inspect(page, 'the list')).toEqual([])
    await page.goto(`${origin}/runs?q=${encodeURIComponent('tag:"customer=acme corp"')}`)
    await barsAt(page, '34').first().waitFor()
    expect(await page.getByRole('row', { name: /compare-folders/ }).count()).toBe(1)
    await page.getByRole('link', { name: /compare-folders/ }).click()
    await page.getByRole('heading', { name: 'compare-folders', level: 1 }).waitFor()
    await barsAt(page, '34').waitFor()
    expect(await inspect(page, 'the page')).toEqual([])
    comparison.goOn.resolve()
    await barsAt(page, '91').waitFor()
    expect(await page.getByRole('main').textContent()).toContain('915 of 1,000 files compared')
    await page.getByRole('link', { name: 'customer=acme corp' }).click()
    await barsAt(page, '91').waitFor()
    expect(await page.getByRole('row', { name: /compare-folders/ }).count()).toBe(1)
    comparison.end.resolve()
    await page.getByText('✓completed').first().waitFor()
    expect(await page.getByRole('progressbar').count()).toBe(0)
    expect(faults()).toEqual([])
  },
)

function barsAt(page: Page, percent: string) {
  return page.locator(`[role="progressbar"][aria-valuenow="${percent}"]`)
}
