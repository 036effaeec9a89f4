import { chmodSync, readdirSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Publish } from '../../core/notices.ts'
import { isLogMissing } from '../../store/sqlite/database/open-mark.ts'
import type { Config } from '../config/load-config.ts'
import { databaseFile } from './data-files.ts'

const DATABASE = 'upshot.db'
/** Files that hold secrets, or data that secrets may have got into. */
const PRIVATE = /^(upshot\.db(-wal|-shm|-open)?|secret\.key(\.old|\.next)?|admin\.token|runtime\.json)$/
const STICKY = 0o1000
const OTHERS = 0o077

/** Linux's numbers of file systems on other machines; see statfs(2). FUSE may be either. */
const NAMES: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0x01021997, '9P'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
])

/** Before a start opens it: takes rights of others, and tells what endangers the database. */
export function examineDataDir(config: Pick<Config, 'dataDir' | 'database'>, publish: Publish): void {
  const paths = protectDataDir(config)
  if (paths.length > 0) publish({ kind: 'store.protected', paths })
  if (config.database) return
  const file = databaseFile(config)
  if (isLogMissing(file)) publish({ kind: 'store.log_missing', file })
  const disk = findNetworkDisk(config.dataDir)
  if (disk !== null) publish({ kind: 'store.network_disk', folder: config.dataDir, disk })
}

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

/**
 * The network file system that a folder is on; null for a disk of this machine. The locks and the
 * log of SQLite do not hold there, so a crash may cost the database. Known on Linux only.
 */
export function findNetworkDisk(folder: string, read: (path: string) => { type: number } = statfsSync): string | null {
  if (process.platform !== 'linux') return null
  try {
    return NAMES.get(read(folder).type >>> 0) ?? null
  } catch {
    return null
  }
}
