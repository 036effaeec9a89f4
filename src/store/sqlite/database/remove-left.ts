import { readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

const DAY_MS = 86_400_000

/**
 * Removes what killed processes left beside `path`, which is new: entries that `isLike` names, a
 * day older or more. Keeps those that this user may not remove.
 */
export function removeLeft(path: string, isLike: RegExp): void {
  const before = statSync(path).mtimeMs - DAY_MS
  for (const name of readdirSync(dirname(path))) {
    if (!isLike.test(name)) continue
    const entry = join(dirname(path), name)
    try {
      if (statSync(entry).mtimeMs <= before) rmSync(entry, { recursive: true })
    } catch {
      // Another process has removed it, or it is not ours to remove.
    }
  }
}
