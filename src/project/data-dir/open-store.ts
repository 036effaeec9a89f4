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
import { describeLostKey, loadVaultKey, NO_KEY, parseVaultKey, readVaultKey } from '../../store/vault.ts'
import type { DatabaseConfig, DatabaseHost } from '../config/database-config.ts'
import type { Config } from '../config/load-config.ts'
import { databaseFile, vaultKeyFile } from './data-files.ts'

type Files = Pick<Config, 'dataDir' | 'secretKey'>
type Place = Files & Pick<Config, 'database'>

/**
 * The database, and the key that seals its secrets. Makes the data directory, and a key file in it
 * unless `secretKey` is set. Throws `invalid_config` where the key of an existing database is gone.
 */
export function storeOptions(place: Place): StoreOptions {
  return describeStore(place, makeKey(place))
}

/** The same for the database in the data directory. */
export function sqliteOptions(place: Files): SqliteStoreOptions {
  return { file: databaseFile(place), vaultKey: makeKey(place) }
}

/** The same for the database in PostgreSQL. */
export function postgresOptions({ database, ...place }: Files & { database: DatabaseConfig }): PostgresStoreOptions {
  return { ...describeDatabase(database), vaultKey: makeKey(place) }
}

function describeStore({ database = null, ...place }: Place, vaultKey: Buffer): StoreOptions {
  return database === null ? { file: databaseFile(place), vaultKey } : { ...describeDatabase(database), vaultKey }
}

function makeKey(place: Files): Buffer {
  const { dataDir, secretKey } = place
  makeDataDir(dataDir)
  if (secretKey !== null) return parseVaultKey(secretKey, 'UPSHOT_SECRET_KEY')
  if (isKeyLost(place)) throw describeLostKey(vaultKeyFile(place))
  return loadVaultKey(vaultKeyFile(place))
}

/** Whether the file of the key is gone: a new one would open nothing, and hide that. */
export function isKeyLost({ dataDir, secretKey }: Files): boolean {
  // The database first: another process that makes both makes the key before it.
  return secretKey === null && existsSync(databaseFile({ dataDir })) && !existsSync(vaultKeyFile({ dataDir }))
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
  return existsSync(file) ? readVaultKey(file) : NO_KEY
}

/**
 * Opens the store on this thread, for the command line; the app may be running. Without its key it
 * can be read, but for its secrets.
 */
export function openStore(place: Place): Promise<Store> {
  return openStoreOn(describeStore(place, isKeyLost(place) ? NO_KEY : makeKey(place)))
}

/** Opens the store for reading alone. Nothing is made: neither a folder, nor a key, nor a table. */
export function openReadStore(place: Place): Promise<Reader> {
  return openReadStoreOn(describeStore(place, readKey(place)))
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
