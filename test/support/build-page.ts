import { join, resolve } from 'node:path'
import { build } from 'vite'
import { findBrowser } from '../sandbox/support/browser.ts'
import { changedAt } from './changed-at.ts'

const ROOT = resolve(import.meta.dirname, '../..')

/**
 * Builds the page once for all suites of a run, unless it is newer than all sources. A build
 * empties the folder that the apps of other suites serve meanwhile.
 */
export default async function buildPage(): Promise<void> {
  if (findBrowser() === undefined) return
  if (changedAt('dist/dashboard/index.html') > changedAt('{src,style}/**/*', 'package-lock.json')) return
  await build({ configFile: join(ROOT, 'src/dashboard/vite.config.ts') })
}
