/**
 * Our names for the three storages of the service. The configuration maps each to the service's
 * spelling.
 */
export const STORAGES = ['storage_a', 'storage_b', 'storage_c'] as const

/** One of the three storages of the service, under our own name. */
export type StorageName = (typeof STORAGES)[number]

/** The service's spellings of each storage, in addition to our name. */
export type StorageSpellings = Readonly<Partial<Record<StorageName, string | readonly string[]>>>

/**
 * The storage with this name, ours or the service's; null for any other. Case, `-`, `_` and spaces
 * are ignored.
 */
export function findStorage(name: unknown, spellings: StorageSpellings): StorageName | null {
  const wanted = plainName(String(name))
  const isMeant = (storage: StorageName) =>
    [storage, spellings[storage] ?? []].flat().some((spelling) => plainName(spelling) === wanted)
  return STORAGES.find(isMeant) ?? null
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/[-_\s]/g, '')
}
