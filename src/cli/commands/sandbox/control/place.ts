import { InvalidArgumentError } from 'commander'
import { STORAGES, type StorageName } from '../../../../core/service/storage.ts'

/** A place in the sandbox. */
export interface SandboxPlace {
  storage: StorageName
  /** As it was written, with a slash in front. */
  path: string
}

/** Reads `<storage:/path>`, such as `storage_a:/in/report.pdf`; a storage alone is its root. */
export function parseSandboxPlace(text: string): SandboxPlace {
  const [, name = '', path = ''] = /^([^:]*):?(.*)$/s.exec(text) ?? []
  const storage = STORAGES.find((known) => known === name.toLowerCase().replaceAll('-', '_'))
  if (storage !== undefined) return { storage, path: path.startsWith('/') ? path : `/${path}` }
  throw new InvalidArgumentError(`Write <storage:/path> with one of ${STORAGES.join(', ')}.`)
}
