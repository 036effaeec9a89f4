import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, onTestFinished, test, vi } from 'vitest'

/** The first draws the same pages in half of the processor time of the whole browser. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'chrome']

/** The path of a Chromium on this machine, or undefined. None is downloaded. */
export function findBrowser(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path))
}

/** The code of a page that is left soon is not worth the compilers that make it fast. */
const ARGS = ['--no-sandbox', '--disable-gpu', '--js-flags=--no-opt --no-maglev']

/** Starts a browser with a profile of its own. */
function startBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: ARGS, timeout: 60_000 })
}

export interface Tab {
  page: Page
  /** Errors, refused resources, violations of the policy, alerts and questions of the page. */
  complaints: string[]
}

export interface TabOptions {
  /** Pixels. Default 1280. */
  width?: number
  colorScheme?: 'light' | 'dark'
  javaScriptEnabled?: boolean
  /** The answer to every question of the page. Default `yes`. */
  answer?: 'yes' | 'no'
}

/** Tests in a Chromium that the file starts once; each is skipped where the machine has none. */
export function chromiumTests() {
  // A browser is slow on a busy machine.
  vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 })
  const found = findBrowser()
  let browser: Browser | undefined
  beforeAll(async () => {
    if (found !== undefined) browser = await startBrowser(found)
  })
  afterAll(() => browser?.close())
  return {
    inBrowser: test.skipIf(found === undefined),
    label: found === undefined ? ' (skipped: no Chromium on this machine)' : '',
    openTab(options: TabOptions = {}): Promise<Tab> {
      if (!browser) throw new Error('There is no browser.')
      return openTab(browser, options)
    },
  }
}

/** A tab with cookies and storage of its own, closed at the end of the test. */
async function openTab(browser: Browser, { width = 1280, answer = 'yes', ...options }: TabOptions = {}): Promise<Tab> {
  // A browser with a window lets the page that is looked at write there, and the shell asks.
  const permissions = ['clipboard-write']
  const context = await browser.newContext({ viewport: { width, height: 800 }, permissions, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('dialog', (dialog) => {
    complaints.push(`${dialog.type() === 'confirm' ? 'asked' : 'a dialog opened'}: ${dialog.message()}`)
    void (answer === 'yes' ? dialog.accept() : dialog.dismiss())
  })
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail') await showPage(page, complaints)
    await context.close()
  })
  return { page, complaints }
}

/** Prints what the page of a failed test shows. */
async function showPage(page: Page, complaints: readonly string[]): Promise<void> {
  const text = await page.locator('body').innerText({ timeout: 5_000 })
  process.stderr.write(`${[`${page.url()} showed:`, text, ...complaints].join('\n')}\n`)
}
