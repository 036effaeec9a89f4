import { openDatabase } from '../../store/sqlite/database/open-database.ts'
import { type Backup, backupDatabase } from '../../store/sqlite/upkeep/backup-database.ts'
import { type DatabaseReport, verifyDatabase } from '../../store/sqlite/upkeep/verify-database.ts'
import type { Config } from '../config/load-config.ts'
import { databaseFile } from './data-files.ts'

/** Copies the project's database to `to` and checks the copy. The app may be running. */
export function backUp(
  config: Pick<Config, 'dataDir'>,
  to: string,
  options: Parameters<typeof backupDatabase>[2],
): Promise<Backup> {
  return backupDatabase(databaseFile(config), to, options)
}

/** Checks a database without changing it; by default the project's own. */
export function verify(config: Pick<Config, 'dataDir'>, file = databaseFile(config)): DatabaseReport {
  return verifyDatabase(file)
}

/**
 * Copies the write-ahead log into the database and truncates it. Pages that a connection still
 * reads stay in the log.
 */
export function shortenLog(config: Pick<Config, 'dataDir'>): void {
  const db = openDatabase(databaseFile(config))
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
}
