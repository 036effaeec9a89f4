import type { Page } from 'playwright-core'
import { chromiumTests, type TabOptions } from '../../sandbox/support/browser.ts'
import { inspectNow } from '../../sandbox/support/inspect-page.ts'
import { openDashboard } from './open-dashboard.ts'

/** Tests of the built page in Chromium; each is skipped where the machine has none. */
export function browserTests() {
  const { openTab, ...chromium } = chromiumTests()
  const open = async (options: TabOptions = {}, config: Parameters<typeof openDashboard>[0] = {}) => {
    const dashboard = await openDashboard(config)
    const tab = await openTab(options)
    // The first look at the session says that nobody is logged in; the browser reports each 401.
    const faults = () => tab.complaints.filter((complaint) => !complaint.includes('401'))
    return { ...dashboard, ...tab, faults }
  }
  return { ...chromium, open }
}

/** Light and dark, wide and narrow. */
export const LOOKS = [
  { colorScheme: 'light', width: 1440 },
  { colorScheme: 'dark', width: 1024 },
  { colorScheme: 'light', width: 390 },
] as const

/** Pixels. */
const HEIGHT = 800

/** Goes to a page as a link of the dashboard does: nothing that is loaded is loaded again. */
export function walkTo(page: Page, url: string): Promise<void> {
  return page.evaluate((to) => {
    const { history } = globalThis as never as { history: { pushState(state: null, title: '', url: string): void } }
    history.pushState(null, '', to)
  }, url)
}

/** The faults of a page that is loaded, by {@link inspectNow}, in each look. */
export async function inspect(page: Page, place: string): Promise<string[]> {
  await page.locator('h1').waitFor()
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
  const faults: string[] = []
  for (const { colorScheme, width } of LOOKS) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: HEIGHT })
    faults.push(...(await inspectNow(page, `${place} (${colorScheme}, ${width} px)`)))
  }
  return faults
}
