import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { onTestFinished } from 'vitest'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'chrome']

/** The path of a Chromium on this machine, or undefined: none is downloaded. */
export function findBrowser(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find((path) => existsSync(path))
}

/** Starts a browser with a profile of its own. */
export function startBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'], timeout: 60_000 })
}

export interface Tab {
  page: Page
  /**
   * What the page complained of: refused resources, errors, anything under the policy, alerts; and
   * what it asked.
   */
  complaints: string[]
}

export interface TabOptions {
  /** Pixels; default 1280. */
  width?: number
  colorScheme?: 'light' | 'dark'
  javaScriptEnabled?: boolean
  /** To every question of the page; default `yes`. */
  answer?: 'yes' | 'no'
}

/** A tab with cookies and storage of its own, closed when the test is over. */
export async function openTab(
  browser: Browser,
  { width = 1280, answer = 'yes', ...options }: TabOptions = {},
): Promise<Tab> {
  const context = await browser.newContext({ viewport: { width, height: 800 }, ...options })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(30_000)
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('dialog', (dialog) => {
    complaints.push(`${dialog.type() === 'confirm' ? 'asked' : 'a dialog opened'}: ${dialog.message()}`)
    void (answer === 'yes' ? dialog.accept() : dialog.dismiss())
  })
  return { page, complaints }
}
