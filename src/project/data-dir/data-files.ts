import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/load-config.ts'

/** Path of the database, which need not exist. */
export function databaseFile({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'upshot.db')
}

/** Whether the project has rows: it is in PostgreSQL, or there is a file. */
export function hasDatabase({ dataDir, database = null }: Pick<Config, 'dataDir' | 'database'>): boolean {
  return database !== null || existsSync(databaseFile({ dataDir }))
}

/** Path of the key file, which exists only where no key is configured. */
export function vaultKeyFile({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'secret.key')
}
