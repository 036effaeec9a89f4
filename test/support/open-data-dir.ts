import type { Store } from '../../src/core/store/store.ts'
import type { Config } from '../../src/project/config/load-config.ts'
import { sqliteOptions } from '../../src/project/data-dir/open-store.ts'
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts'
import { makeDatabase } from './ready-database.ts'

/** Opens the database in a data directory, beside an app. The caller closes it. */
export function openDataDir(place: Pick<Config, 'dataDir' | 'secretKey'>): Store {
  const options = sqliteOptions(place)
  makeDatabase(options.file)
  return openSqliteStore(options)
}
