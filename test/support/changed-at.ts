import { globSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../..')

/** When the newest file that these patterns name was changed; 0 if there is none. */
export function changedAt(...patterns: string[]): number {
  return Math.max(0, ...globSync(patterns, { cwd: ROOT }).map((file) => statSync(join(ROOT, file)).mtimeMs))
}
