import { chmodSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/load-config.ts'

const DATABASE = 'upshot.db'
/** Files that hold secrets, or data that secrets may have got into. */
const PRIVATE = /^(upshot\.db(-wal|-shm|-open)?|secret\.key(\.old|\.next)?|admin\.token|runtime\.json)$/
const STICKY = 0o1000
const OTHERS = 0o077

/**
 * Takes the rights of group and others from the data directory and our files in it. Leaves what
 * another user owns, and a directory that is not ours alone, such as `/tmp`. Returns what changed.
 */
export function protectDataDir({ dataDir }: Pick<Config, 'dataDir'>): string[] {
  if (process.platform === 'win32' || statSync(dataDir, { throwIfNoEntry: false }) === undefined) return []
  const names = readdirSync(dataDir)
  const files = names.filter((name) => PRIVATE.test(name)).map((name) => join(dataDir, name))
  // A directory without our database may be anything that a wrong variable names.
  const isOurs = names.includes(DATABASE) || names.length === 0
  return [...(isOurs ? [dataDir] : []), ...files].filter(protect)
}

/** True where it had rights to take, and took them. */
function protect(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined || found.uid !== process.getuid?.()) return false
  const isShared = found.isDirectory() && (found.mode & STICKY) !== 0
  if ((found.mode & OTHERS) === 0 || isShared) return false
  chmodSync(path, found.mode & 0o7700)
  return true
}
