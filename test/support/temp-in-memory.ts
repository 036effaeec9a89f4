import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
/** Many times the temporary files of all suites: these had 0.2 GiB at a time. */
const MIN_FREE_BYTES = 4 * 1024 ** 3

/**
 * Keeps the temporary files of this process, and of those it starts, in memory where there is room.
 * A database there waits for no disk. Set TMPDIR to have them on one.
 */
export function keepTempInMemory(): void {
  if (process.env.TMPDIR !== undefined || !hasRoom(MEMORY)) return
  const folder = mkdtempSync(join(MEMORY, 'upshot-'))
  // Started by root, PostgreSQL's server is another user.
  chmodSync(folder, 0o755)
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  process.env.TMPDIR = folder
}

function hasRoom(folder: string): boolean {
  if (!existsSync(folder)) return false
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize >= MIN_FREE_BYTES
}
