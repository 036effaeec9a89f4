import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { UpshotError } from '../../core/errors.ts'
import type { Store } from '../../core/store/store.ts'
import { openSqliteStore, type SqliteStoreOptions } from '../../store/sqlite/open-sqlite-store.ts'
import { loadVaultKey, parseVaultKey } from '../../store/vault.ts'
import type { Config } from '../config/load-config.ts'

type Place = Pick<Config, 'dataDir' | 'secretKey'>

/**
 * The database of a data directory and the key to its secrets; both are made at the first start.
 */
export function locateDatabase({ dataDir, secretKey }: Place): SqliteStoreOptions {
  makeDataDir(dataDir)
  const vaultKey =
    secretKey === null ? loadVaultKey(keyFileOf({ dataDir })) : parseVaultKey(secretKey, 'UPSHOT_SECRET_KEY')
  return { file: join(dataDir, 'upshot.db'), vaultKey }
}

/** Where the key is that a data directory has for itself. */
export function keyFileOf({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'secret.key')
}

/** Opens it beside a running app, as the command line does. */
export function openStore(place: Place): Store {
  return openSqliteStore(locateDatabase(place))
}

function makeDataDir(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : 'unknown fault'
    const message = `The data folder ${folder} cannot be made (${code}). Choose one that you may write to with UPSHOT_DATA_DIR.`
    throw new UpshotError('invalid_config', message, { cause })
  }
}
