import { resolve } from 'node:path'

export const arrivals = {
  /** Where the records of new files are written, beside the database. */
  folder: resolve(process.env.UPSHOT_DATA_DIR || 'data', 'arrivals'),
}
