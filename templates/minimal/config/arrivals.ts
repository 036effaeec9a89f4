import { resolve } from 'node:path'

export const arrivals = {
  /** Folder for the records of new files. */
  folder: resolve(process.env.UPSHOT_DATA_DIR || 'data', 'arrivals'),
}
