/**
 * The three storages of the service under our own names; `config` says how each is written on the
 * wire.
 */
export const STORAGES = ['storage_a', 'storage_b', 'storage_c'] as const

export type StorageName = (typeof STORAGES)[number]

/** How the service writes each storage, besides our own name of it. */
export type StorageSpellings = Readonly<Partial<Record<StorageName, string | readonly string[]>>>

/**
 * The storage that is meant by one of our names or of the service's, in any spelling of case, `-`,
 * `_` and space; or null.
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
