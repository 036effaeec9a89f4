import { UpshotError } from '../../core/errors.ts'
import type { Anchor } from '../../core/safety/anchor.ts'
import type { LedgerReport } from '../../core/safety/verify-ledger.ts'
import { openDatabase } from '../../store/sqlite/database/open-database.ts'
import { type Backup, backupDatabase } from '../../store/sqlite/upkeep/backup-database.ts'
import { type DatabaseReport, verifyDatabase } from '../../store/sqlite/upkeep/verify-database.ts'
import { verifyLedgerFile } from '../../store/sqlite/upkeep/verify-ledger-file.ts'
import type { Config } from '../config/load-config.ts'
import { databaseFile } from './data-files.ts'
import { readKey, storeOptions } from './open-store.ts'

/**
 * Makes the schema in PostgreSQL, or brings it up to date. Null for a file, which is migrated when
 * it is opened.
 */
export async function migrateDatabase(config: Pick<Config, 'dataDir' | 'secretKey' | 'database'>) {
  const options = storeOptions(config)
  if ('file' in options) return null
  const { migratePostgres } = await import('../../store/postgres/open-postgres-store.ts')
  return migratePostgres(options)
}

/** Copies the project's database to `to` and checks the copy. The app may be running. */
export function backUp(
  config: Pick<Config, 'dataDir'>,
  to: string,
  options: Parameters<typeof backupDatabase>[2],
): Promise<Backup> {
  return backupDatabase(databaseFile(config), to, options)
}

/**
 * Checks a database without changing it, with the chain over its effect ledger; by default the
 * project's own.
 */
export async function verify(
  config: Pick<Config, 'dataDir' | 'secretKey'>,
  file = databaseFile(config),
): Promise<DatabaseReport> {
  const report = verifyDatabase(file)
  if (!report.passed) return report
  const { passed, found } = await checkSeals(config, file)
  const check = { name: 'the effect ledger is as it was sealed', passed, found }
  return { ...report, passed, checks: [...report.checks, check] }
}

/** A backup may have been sealed with an earlier key, so that its seals cannot be compared. */
async function checkSeals(config: Pick<Config, 'dataDir' | 'secretKey'>, file: string) {
  try {
    const { passed, faults } = await verifyLedger(config, file, [])
    return { passed, found: faults.slice(0, 3).join('; ') || 'ok' }
  } catch (error) {
    if (!(error instanceof UpshotError) || error.code !== 'invalid_config') throw error
    const found = 'not compared: its key is another one than that of the project'
    return { passed: file !== databaseFile(config), found }
  }
}

/** Follows the chain over the effect ledger of a database, which it leaves unchanged. */
export function verifyLedger(
  config: Pick<Config, 'dataDir' | 'secretKey'>,
  file: string,
  anchors: readonly Anchor[],
): Promise<LedgerReport> {
  return verifyLedgerFile(file, readKey(config), { anchors })
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
