import { join } from 'node:path'
import type { Config } from '../config/load-config.ts'

/** Path of the database, which need not exist. */
export function databaseFile({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'upshot.db')
}

/** Path of the key file, which exists only where no key is configured. */
export function vaultKeyFile({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'secret.key')
}
