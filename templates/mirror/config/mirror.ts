import { resolve } from 'node:path'
import type { StorageName } from 'upshot'

/** What is kept on this machine. */
export const mirror = {
  service: 'storage_a' as StorageName,
  /** This folder with everything in it; `/` is the whole storage. */
  path: '/',
  /** Where copies and the inventory are written to. */
  folder: resolve(process.env.UPSHOT_DATA_DIR || 'data', 'mirror'),
  /** Larger files are listed, not copied. */
  largestBytes: 1024 ** 3,
  /** Minute, hour, day of the month, month, day of the week. */
  schedule: '*/15 * * * *',
  timezone: 'UTC',
}
