import { InvalidArgumentError } from 'commander'
import { STORAGES, type StorageName } from '../../../../core/service/storage.ts'

/** A path in a storage of the sandbox. */
export interface SandboxPlace {
  storage: StorageName
  /** The path as written, with a leading slash. */
  path: string
}

/** Reads `<storage:/path>`, such as `storage_a:/in/report.pdf`. Default path `/`. */
export function parseSandboxPlace(text: string): SandboxPlace {
  const [, name = '', path = ''] = /^([^:]*):?(.*)$/s.exec(text) ?? []
  const storage = STORAGES.find((known) => known === name.toLowerCase().replaceAll('-', '_'))
  if (storage !== undefined) return { storage, path: path.startsWith('/') ? path : `/${path}` }
  throw new InvalidArgumentError(`Give <storage:/path> with one of ${STORAGES.join(', ')}.`)
}
