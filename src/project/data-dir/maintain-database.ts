import { UpshotError } from '../../core/errors.ts'
import {
  type LedgerCheck,
  type LedgerReport,
  verifyLedger as verifySeals,
} from '../../core/safety/ledger/verify-ledger.ts'
import { KEEP_ALL } from '../../core/store/retention.ts'
import { openStore } from '../../store/open-store.ts'
import type { Migration } from '../../store/postgres/database/migrate.ts'
import type { PostgresStoreOptions } from '../../store/postgres/open-postgres-store.ts'
import type { ServerFacts } from '../../store/postgres/upkeep/inspect-server.ts'
import type { DatabaseReport, MigrationForecast } from '../../store/rows/database-report.ts'
import { foreseeMigration as foreseeOfFile, migrate } from '../../store/sqlite/database/migrate.ts'
import { openDatabase } from '../../store/sqlite/database/open-database.ts'
import {
  type Backup,
  backupDatabase,
  describeNoBackup,
  partOf,
  publishBackup,
  removeOldParts,
} from '../../store/sqlite/upkeep/backup-database.ts'
import { verifyDatabase } from '../../store/sqlite/upkeep/verify-database.ts'
import { verifyLedgerFile } from '../../store/sqlite/verify-ledger-file.ts'
import { describeLostKey } from '../../store/vault.ts'
import type { Config } from '../config/load-config.ts'
import { databaseFile, vaultKeyFile } from './data-files.ts'
import { isKeyLost, postgresOptions, readKey, storeOptions } from './open-store.ts'

export { describeNoBackup, type MigrationForecast, partOf, publishBackup, removeOldParts }

type Place = Pick<Config, 'dataDir' | 'secretKey' | 'database'>

/** Brings the schema up to date, and gives its numbers; in PostgreSQL it is made if missing. */
export async function migrateDatabase(config: Place): Promise<Migration> {
  const options = storeOptions(config)
  if ('file' in options) {
    const db = openDatabase(options.file)
    try {
      return migrate(db)
    } finally {
      db.close()
    }
  }
  const { migratePostgres } = await import('../../store/postgres/open-postgres-store.ts')
  const migration = await migratePostgres(options)
  const store = await openStore(options)
  try {
    // While the tables are empty, the weeks to come cost nothing. Nothing is old enough to go.
    await store.pruneWeek(KEEP_ALL, (await store.readClock()) ?? 0)
    return migration
  } finally {
    await store.close()
  }
}

/** Says what `migrateDatabase` would do, and changes nothing. Rejects when `signal` aborts. */
export async function foreseeMigration(config: Place, now: number, signal?: AbortSignal): Promise<MigrationForecast> {
  const options = storeOptions(config)
  if ('file' in options) return foreseeOfFile(options.file, now, signal)
  const { withSession } = await import('../../store/postgres/open-postgres-store.ts')
  const { foreseeMigration: foresee } = await import('../../store/postgres/database/migrate.ts')
  return withSession(options, foresee)
}

/** SQL for roles that own nothing, with the rights that processes and reports need. */
export async function describeRoles(schema: string): Promise<string> {
  const { writeRoleSql } = await import('../../store/postgres/upkeep/role-sql.ts')
  return writeRoleSql(schema)
}

/** A pooler without a free session gives no answer. */
const FACTS_MS = 4_000

/** Facts of the server of PostgreSQL. */
export async function inspectDatabase(config: Parameters<typeof postgresOptions>[0]): Promise<ServerFacts> {
  const { withSession } = await import('../../store/postgres/open-postgres-store.ts')
  const { inspectServer } = await import('../../store/postgres/upkeep/inspect-server.ts')
  return withSession(postgresOptions(config), inspectServer, FACTS_MS)
}

/**
 * Milliseconds until the standby that answers lists had all that the primary had; null without one.
 * Throws where it cannot answer lists now.
 */
export async function inspectReads(config: Place): Promise<number | null> {
  const options = storeOptions(config)
  if ('file' in options || !options.readHosts) return null
  const { inspectStandby } = await import('../../store/postgres/open-postgres-store.ts')
  return inspectStandby(options)
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
 * Checks a database without changing it, with the chain over its effect ledger. Default: the one of
 * the project, in a file or in PostgreSQL.
 */
export async function verify(
  config: Place,
  file?: string,
  onProgress?: LedgerCheck['onProgress'],
): Promise<DatabaseReport> {
  if (file === undefined && config.database) {
    const options = postgresOptions({ ...config, database: config.database })
    return withSeals(await verifyInPostgres(options, onProgress), () => checkSeals(config))
  }
  return withSeals(verifyDatabase(file ?? databaseFile(config), onProgress), () => checkSeals(config, file))
}

/** The report with the check of the chain, which only a sound database can have. */
async function withSeals(
  report: DatabaseReport,
  check: () => Promise<{ passed: boolean; found: string }>,
): Promise<DatabaseReport> {
  if (!report.passed) return report
  const { passed, found } = await check()
  const checks = [...report.checks, { name: 'the effect ledger is as it was sealed', passed, found }]
  return { ...report, passed, checks }
}

async function verifyInPostgres(
  options: PostgresStoreOptions,
  onProgress: LedgerCheck['onProgress'],
): Promise<DatabaseReport> {
  const { withSession } = await import('../../store/postgres/open-postgres-store.ts')
  const { requireSchema } = await import('../../store/postgres/database/migrate.ts')
  const { verifyPostgres } = await import('../../store/postgres/upkeep/verify-postgres.ts')
  return withSession(options, async (client, place) => {
    await requireSchema(client, place)
    return verifyPostgres(client, place, onProgress)
  })
}

/** A backup may have been sealed with an earlier key, so that its seals cannot be compared. */
async function checkSeals(config: Place, file?: string) {
  try {
    const { passed, faults } = await verifyLedger(config, file, {})
    return { passed, found: faults.slice(0, 3).join('; ') || 'ok' }
  } catch (error) {
    if (!(error instanceof UpshotError) || error.code !== 'invalid_config') throw error
    if (file === undefined) return { passed: false, found: error.message }
    return { passed: true, found: 'not compared: its key is another one than that of the project' }
  }
}

/**
 * Follows the chain over the effect ledger of a database, which it leaves unchanged. Default: the
 * one of the project, in a file or in PostgreSQL.
 */
export async function verifyLedger(
  config: Place,
  file: string | undefined,
  { anchors, onProgress }: LedgerCheck,
): Promise<LedgerReport> {
  // Without it, approvers of a ledger that has no seal yet would look like forged ones.
  if (isKeyLost(config)) throw describeLostKey(vaultKeyFile(config))
  if (file !== undefined || !config.database) {
    return verifyLedgerFile(file ?? databaseFile(config), readKey(config), { anchors, onProgress })
  }
  const store = await openStore(storeOptions(config))
  try {
    return await verifySeals(store, { anchors, onProgress })
  } finally {
    await store.close()
  }
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
