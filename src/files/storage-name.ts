import type { StorageName } from '../core/file.ts'
import { type ErrorFacts, InvalidRequestError } from './errors.ts'

type Spellings = Readonly<Record<StorageName, { wire: string; alternative: string }>>

/**
 * The storage that is meant by one of our names or of the service's, in any spelling of case, `-`, `_` and space: events
 * carry the service's. Throws `InvalidRequestError` for any other name.
 */
export function matchStorage(spellings: Spellings, name: unknown, facts: Omit<ErrorFacts, 'service'>): StorageName {
  const wanted = plain(String(name))
  for (const [storage, { wire, alternative }] of Object.entries(spellings)) {
    if ([storage, wire, alternative].some((spelling) => plain(spelling) === wanted)) return storage as StorageName
  }
  throw new InvalidRequestError(`There is no storage "${name}". Known are ${Object.keys(spellings).join(', ')}.`, {
    ...facts,
    service: null,
  })
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[-_\s]/g, '')
}
