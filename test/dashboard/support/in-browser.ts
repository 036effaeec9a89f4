import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, test, vi } from 'vitest'
import { findBrowser, openTab, startBrowser, type TabOptions } from '../../sandbox/support/browser.ts'
import { openDashboard } from './open-dashboard.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Tests of the built page in Chromium; each is skipped where the machine has none. */
export function browserTests() {
  // A browser is slow on a busy machine.
  vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 })
  const found = findBrowser()
  const label = found === undefined ? ' (skipped: no Chromium on this machine)' : ''
  let browser: Browser | undefined
  beforeAll(async () => {
    if (found !== undefined) browser = await startBrowser(found)
  })
  afterAll(() => browser?.close())
  const open = async (options: TabOptions = {}, config: Parameters<typeof openDashboard>[0] = {}) => {
    if (!browser) throw new Error('There is no browser.')
    const dashboard = await openDashboard(config)
    const tab = await openTab(browser, options)
    // The first look at the session says that nobody is logged in; the browser reports each 401.
    const faults = () => tab.complaints.filter((complaint) => !complaint.includes('401'))
    return { ...dashboard, ...tab, faults }
  }
  return { inBrowser: test.skipIf(found === undefined), label, open }
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

/**
 * Faults of accessibility (WCAG 2.2 A and AA), and a page that scrolls sideways. `part` is a
 * selector; axe looks below it alone.
 */
export async function inspectNow(page: Page, place: string, part = 'html'): Promise<string[]> {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(AXE)
  return page.evaluate(
    async ([where, below]) => {
      const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
      const { axe } = globalThis as never as {
        axe: {
          run(below: string, options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>
        }
      }
      const { violations } = await axe.run(below, { runOnly: tags })
      const { scrollWidth, clientWidth } = (
        globalThis as never as { document: { documentElement: Record<string, number> } }
      ).document.documentElement
      const wide = (scrollWidth ?? 0) > (clientWidth ?? 0)
      const faults = violations.map(({ id, nodes }) => `${where}: ${id} at ${nodes[0]?.html.slice(0, 200)}`)
      return wide ? [...faults, `${where}: scrolls sideways`] : faults
    },
    [place, part] as const,
  )
}
