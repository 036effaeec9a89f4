import type { FilesApi } from '../../../core/service/files-api.ts'
import { findStorage, type StorageName, type StorageSpellings } from '../../../core/service/storage.ts'

type Named = { service: StorageName }
type Verb = (given: Named | Iterable<Named>, options?: object) => unknown

/**
 * The API with our own name of the storage in each call, so that a file has one name. Calls get
 * copies, because code may change its object before a call begins.
 */
export function nameStorages(api: FilesApi, spellings: StorageSpellings): FilesApi {
  const name = (given: Named) => nameStorage(given, spellings)
  const verbs = Object.entries(api as object as Record<string, Verb>).map(([verb, call]): [string, Verb] => [
    verb,
    (given, options) => call('service' in given ? name(given) : Iterator.from(given).map(name), options),
  ])
  return Object.fromEntries(verbs) as object as FilesApi
}

/** A copy with our own name of the storage. An unknown name stays, and is refused by the client. */
export function nameStorage<T extends Named>(given: T, spellings: StorageSpellings): T {
  return { ...given, service: findStorage(given.service, spellings) ?? given.service }
}
