import { isLoopback } from '../../core/service/account.ts'
import type { FileRef } from '../../core/service/file.ts'
import type { StorageName } from '../../core/service/storage.ts'
import { type ErrorFacts, InvalidRequestError } from '../errors.ts'

/** The service's address, and its spelling of the storages. */
interface Addressing {
  baseUrl: string
  services: Readonly<Record<StorageName, { wire: string }>>
}

/** Control characters, and single surrogates, which no URL can carry. */
const UNSENDABLE = /[\p{Cc}\p{Cs}]/u

/** The address of an entry or of its download. Refuses ids that would lead to another path. */
export function entryUrl(settings: Addressing, file: FileRef, below: '' | '/download', facts: ErrorFacts): URL {
  const id = encodeURIComponent(requireId(file.id, facts))
  const url = new URL(`${settings.baseUrl}/files/${id}${below}`)
  url.searchParams.set('service', settings.services[file.service].wire)
  return url
}

export function filesUrl(settings: Addressing, tail: '' | '/list', query: Record<string, string> = {}): URL {
  const url = new URL(`${settings.baseUrl}/files${tail}`)
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return url
}

/**
 * Refuses dot segments: `encodeURIComponent` keeps them, and URL parsers resolve `%2e` like them.
 */
function requireId(id: unknown, facts: ErrorFacts): string {
  if (typeof id === 'string' && id !== '' && !UNSENDABLE.test(id) && !isDotSegment(id)) return id
  throw new InvalidRequestError('The id of the entry is empty, a dot segment, or has control characters.', facts)
}

function isDotSegment(text: string): boolean {
  return /^\.{1,2}$/.test(text.replace(/%2e/gi, '.'))
}

/** A storage path as the service expects it: leading `/`, no trailing one, NFC. */
export function storagePath(path: string, facts: ErrorFacts): string {
  const parts = path
    .normalize('NFC')
    .split('/')
    .filter((part) => part !== '')
  if (!UNSENDABLE.test(path) && !parts.some(isDotSegment)) return `/${parts.join('/')}`
  throw new InvalidRequestError('The path has a dot segment or a control character.', facts)
}

/** Whether a key or a file may go there: https, or plain http on loopback. */
export function isSafeOrigin(url: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))
}
