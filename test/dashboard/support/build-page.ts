import { join, resolve } from 'node:path'
import { build } from 'vite'
import { findBrowser } from '../../sandbox/support/browser.ts'

const ROOT = resolve(import.meta.dirname, '../../..')

/**
 * Builds the page once for all suites of a run. A build empties the folder that the apps of other
 * suites serve meanwhile.
 */
export default async function buildPage(): Promise<void> {
  if (findBrowser() === undefined) return
  await build({ configFile: join(ROOT, 'src/dashboard/vite.config.ts') })
}
