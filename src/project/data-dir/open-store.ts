import { existsSync, mkdirSync } from 'node:fs'
import { UpshotError } from '../../core/errors.ts'
import type { Store } from '../../core/store/store.ts'
import { openSqliteStore, type SqliteStoreOptions } from '../../store/sqlite/open-sqlite-store.ts'
import { loadVaultKey, makeVaultKey, parseVaultKey, readVaultKey } from '../../store/vault.ts'
import type { Config } from '../config/load-config.ts'
import { databaseFile, vaultKeyFile } from './data-files.ts'

type Place = Pick<Config, 'dataDir' | 'secretKey'>

/**
 * Path of the database and the key that seals its secrets. Makes the directory, and a key file
 * unless `secretKey` is set.
 */
export function storeOptions({ dataDir, secretKey }: Place): SqliteStoreOptions {
  makeDataDir(dataDir)
  const vaultKey =
    secretKey === null ? loadVaultKey(vaultKeyFile({ dataDir })) : parseVaultKey(secretKey, 'UPSHOT_SECRET_KEY')
  return { file: databaseFile({ dataDir }), vaultKey }
}

/** The key of the project, for reading; where there is none, one that opens nothing. */
export function readKey({ dataDir, secretKey }: Place): Buffer {
  if (secretKey !== null) return parseVaultKey(secretKey, 'UPSHOT_SECRET_KEY')
  const file = vaultKeyFile({ dataDir })
  return existsSync(file) ? readVaultKey(file) : makeVaultKey()
}

/** Opens the store on this thread, for the command line; the app may be running. */
export function openStore(place: Place): Store {
  return openSqliteStore(storeOptions(place))
}

function makeDataDir(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : 'unknown error'
    const fix = 'Set UPSHOT_DATA_DIR to a folder that you may write to.'
    throw new UpshotError('invalid_config', `The data folder ${folder} cannot be made (${code}). ${fix}`, { cause })
  }
}
