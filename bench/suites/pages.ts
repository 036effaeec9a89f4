import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { SERVICE } from '../load/paced-deliveries.ts'
import { prefillHistory } from '../prefill/prefill-history.ts'
import { startApp } from '../processes/app-process.ts'
import { type Goal, judge, median, type Result } from '../report/result.ts'
import type { Bench, Suite } from './suite.ts'

const GOALS: Record<string, Goal> = {
  'pages.coldMs': { atMost: 1_000 },
  'pages.warmMs': { atMost: 400 },
  'pages.filterMs': { atMost: 150 },
  'pages.longestTaskMs': { atMost: 200 },
}

/** The dashboard in Chromium, as a person sees it; not measured where the machine has none. */
export const pages: Suite = { names: Object.keys(GOALS), isSlow: true, run: runPages }

const SIZE = { runs: 100_000, steps: 3_000, outputBytes: 5_000_000 }
const ROUNDS = 9
const CLI = resolve(import.meta.dirname, '../../src/cli/main.js')
const WIDE = { width: 1440, height: 800 }
const ROWS = 'table tbody tr'

async function runPages(bench: Bench): Promise<Result[]> {
  const executablePath = findBrowser()
  if (executablePath === undefined) {
    bench.say('  there is no Chromium on this machine, so no page is measured')
    return []
  }
  const root = mkdtempSync(join(bench.folder, 'pages-'))
  for (const each of ['workflows', 'data']) mkdirSync(join(root, each))
  const { longRun } = prefillHistory(join(root, 'data/upshot.db'), SIZE, Date.now())
  await using app = await startApp({ root, environment: SERVICE })
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
  try {
    const login = await logIn(browser, root)
    const address = `${app.urls.admin}/runs`
    const times: Record<string, number[]> = Object.fromEntries(Object.keys(GOALS).map((name) => [name, []]))
    await bench.patience.waitForCalm()
    for (let round = 0; round < ROUNDS; round++) {
      const context = await browser.newContext({ storageState: login, viewport: WIDE })
      const page = await context.newPage()
      await page.addInitScript(watchPage, ROWS)
      await page.goto(address)
      times['pages.coldMs']?.push(await readWatch(page, 'rowsAt'))
      await page.reload()
      times['pages.warmMs']?.push(await readWatch(page, 'rowsAt'))
      await page.getByRole('link', { name: 'Failed', exact: true }).click()
      times['pages.filterMs']?.push(await readWatch(page, 'filteredMs'))
      times['pages.longestTaskMs']?.push(await walkLongRun(page, `${address}/${longRun}`))
      await context.close()
    }
    return Object.entries(GOALS).map(([name, goal]) => judge(name, median(times[name] ?? []), 'ms', goal))
  } finally {
    await browser.close()
  }
}

/** The longest task while a run of 3,000 steps is shown, scrolled, and its 5 MB looked at. */
async function walkLongRun(page: Page, address: string): Promise<number> {
  await page.goto(address)
  const lanes = page.getByRole('region', { name: 'Timeline' }).locator('li')
  await lanes.first().waitFor()
  for (let turn = 0; turn < 10; turn++) await page.mouse.wheel(0, 9_000)
  await page.getByRole('button', { name: 'Output of the run' }).click()
  await page.getByText('quarterly-report.pdf').first().waitFor()
  return readWatch(page, 'longest')
}

/** In the page: when the rows came, how long a click on a filter took, and the longest task. */
function watchPage(rows: string): void {
  const page = globalThis as never as {
    watch: Record<'rowsAt' | 'filteredMs' | 'longest', number>
    document: { querySelectorAll(selector: string): Iterable<{ textContent: string }> }
    addEventListener(type: 'click', listener: () => void, capture: true): void
    requestAnimationFrame(call: () => void): void
  }
  page.watch = { rowsAt: Number.NaN, filteredMs: Number.NaN, longest: 0 }
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) page.watch.longest = Math.max(page.watch.longest, duration)
  }).observe({ type: 'longtask' as never, buffered: true })
  const texts = () => [...page.document.querySelectorAll(rows)].map(({ textContent }) => textContent)
  const until = (fits: () => boolean, then: () => void) => {
    if (fits()) then()
    else page.requestAnimationFrame(() => until(fits, then))
  }
  until(
    () => texts().length > 0,
    () => {
      page.watch.rowsAt = performance.now()
    },
  )
  page.addEventListener(
    'click',
    () => {
      const clickedAt = performance.now()
      const areFailed = () => texts().length > 0 && texts().every((text) => text.includes('failed'))
      until(areFailed, () => {
        page.watch.filteredMs = performance.now() - clickedAt
      })
    },
    true,
  )
}

/** A figure of the page, once it is known. */
function readWatch(page: Page, figure: 'rowsAt' | 'filteredMs' | 'longest'): Promise<number> {
  return page.evaluate(async (name) => {
    const { watch } = globalThis as never as { watch: Record<string, number> }
    while (Number.isNaN(watch[name])) await new Promise((resolve) => setTimeout(resolve, 10))
    return watch[name] ?? Number.NaN
  }, figure)
}

/** The cookies of a login by the link that `upshot dashboard` prints. */
async function logIn(browser: Browser, root: string): Promise<Awaited<ReturnType<BrowserContext['storageState']>>> {
  const link = execFileSync(process.execPath, [CLI, 'dashboard', '--no-open', '--quiet'], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, ...SERVICE },
  })
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(link.trim())
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  const state = await context.storageState()
  await context.close()
  return state
}

/** The path of a Chromium on this machine, or undefined. None is downloaded. */
function findBrowser(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.map((folder) => join(folder, 'chromium')).find((path) => existsSync(path))
}
