import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { UpshotError } from '../../core/errors.ts'
import type { Store } from '../../core/store/store.ts'
import {
  openReadStore as openReadStoreOn,
  openStore as openStoreOn,
  type StoreOptions,
} from '../../store/open-store.ts'
import type { PostgresStoreOptions } from '../../store/postgres/open-postgres-store.ts'
import type { Reader } from '../../store/shared-store.ts'
import type { SqliteStoreOptions } from '../../store/sqlite/open-sqlite-store.ts'
import { loadVaultKey, makeVaultKey, parseVaultKey, readVaultKey } from '../../store/vault.ts'
import type { DatabaseConfig, DatabaseHost } from '../config/database-config.ts'
import type { Config } from '../config/load-config.ts'
import { databaseFile, vaultKeyFile } from './data-files.ts'

type Files = Pick<Config, 'dataDir' | 'secretKey'>
type Place = Files & Pick<Config, 'database'>

/**
 * The database, and the key that seals its secrets. Makes the data directory, and a key file in it
 * unless `secretKey` is set.
 */
export function storeOptions({ database = null, ...place }: Place): StoreOptions {
  return database === null ? sqliteOptions(place) : postgresOptions({ ...place, database })
}

/** The same for the database in the data directory. */
export function sqliteOptions(place: Files): SqliteStoreOptions {
  return { file: databaseFile(place), vaultKey: makeKey(place) }
}

function makeKey({ dataDir, secretKey }: Files): Buffer {
  makeDataDir(dataDir)
  return secretKey === null ? loadVaultKey(vaultKeyFile({ dataDir })) : parseVaultKey(secretKey, 'UPSHOT_SECRET_KEY')
}

/** The same for the database in PostgreSQL. */
export function postgresOptions({ database, ...place }: Files & { database: DatabaseConfig }): PostgresStoreOptions {
  return { ...describeDatabase(database), vaultKey: makeKey(place) }
}

function describeDatabase({ hosts, directHosts, readHosts, schema, connections }: DatabaseConfig) {
  const describe = (all: readonly DatabaseHost[]) => all.map(({ tls, ...host }) => ({ ...host, ssl: tls ?? false }))
  return {
    hosts: describe(hosts),
    directHosts: directHosts && describe(directHosts),
    readHosts: readHosts && describe(readHosts),
    schema,
    connections: shareConnections(connections),
  }
}

/** One connection listens; a fifth answers people, and the engine gets half of the rest. */
function shareConnections(all: number): Required<PostgresStoreOptions>['connections'] {
  const aside = Math.max(1, Math.floor(all / 5))
  const own = Math.floor((all - 1 - aside) / 2)
  return { own, aside, engine: all - 1 - aside - own }
}

/** The key of the project, for reading; where there is none, one that opens nothing. */
export function readKey({ dataDir, secretKey }: Files): Buffer {
  if (secretKey !== null) return parseVaultKey(secretKey, 'UPSHOT_SECRET_KEY')
  const file = vaultKeyFile({ dataDir })
  return existsSync(file) ? readVaultKey(file) : makeVaultKey()
}

/** Opens the store on this thread, for the command line; the app may be running. */
export function openStore(place: Place): Promise<Store> {
  return openStoreOn(storeOptions(place))
}

/** Opens the store for reading alone. Nothing is made: neither a folder, nor a key, nor a table. */
export function openReadStore({ database = null, ...place }: Place): Promise<Reader> {
  const vaultKey = readKey(place)
  if (database === null) return openReadStoreOn({ file: databaseFile(place), vaultKey })
  return openReadStoreOn({ ...describeDatabase(database), vaultKey })
}

/** The same with lists of the standby. Where it is behind or gone, "upshot doctor" says why. */
export async function openListStore(config: Place): Promise<Reader> {
  const store = await openReadStore(config)
  try {
    return { ...store, ...(await store.openLists?.(() => {})) }
  } catch (error) {
    await store.close()
    throw error
  }
}

function makeDataDir(folder: string): void {
  try {
    makeFolders(folder)
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : 'unknown error'
    const fix = 'Set UPSHOT_DATA_DIR to a folder that you may write to.'
    throw new UpshotError('invalid_config', `The data folder ${folder} cannot be made (${code}). ${fix}`, { cause })
  }
}

/** As the recursive `mkdirSync` of Node, which never returns below `/proc`. */
function makeFolders(folder: string): void {
  if (isFolder(folder)) return
  makeFolders(dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!isFolder(folder)) throw error
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
