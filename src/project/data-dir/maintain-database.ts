import { join } from 'node:path'
import { openDatabase } from '../../store/sqlite/database/open-database.ts'
import { type Backup, backupDatabase } from '../../store/sqlite/upkeep/backup-database.ts'
import { type DatabaseReport, verifyDatabase } from '../../store/sqlite/upkeep/verify-database.ts'
import type { Config } from '../config/load-config.ts'

/** Where the database of a data directory is, whether or not there is one. */
export function databaseFile({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'upshot.db')
}

/** A checked copy of the project's database as it is now, also beside a running app. */
export function backUp(
  config: Pick<Config, 'dataDir'>,
  to: string,
  options: Parameters<typeof backupDatabase>[2],
): Promise<Backup> {
  return backupDatabase(databaseFile(config), to, options)
}

/** What of a database is not as it must be; of the project's own where no other is named. */
export function verify(config: Pick<Config, 'dataDir'>, file = databaseFile(config)): DatabaseReport {
  return verifyDatabase(file)
}

/**
 * Takes the write-ahead log into the database and shortens it, as far as nobody reads what is in
 * it.
 */
export function shortenLog(config: Pick<Config, 'dataDir'>): void {
  const db = openDatabase(databaseFile(config))
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
}
