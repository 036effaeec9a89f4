import { resolve } from 'node:path'
import type { StorageName } from 'upshot'

/** The storage to mirror, and the place of its copies. */
export const mirror = {
  service: 'storage_a' as StorageName,
  /** Folder to mirror with everything in it; `/` is the whole storage. */
  path: '/',
  /** Local folder of the copies and the inventory. */
  folder: resolve(process.env.UPSHOT_DATA_DIR || 'data', 'mirror'),
  /** Larger files are listed but not copied. */
  maxBytes: 1024 ** 3,
  /** Minute, hour, day of month, month, day of week. */
  schedule: '*/15 * * * *',
  timezone: 'UTC',
}
