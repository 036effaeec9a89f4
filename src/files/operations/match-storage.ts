import { findStorage, type StorageName } from '../../core/service/storage.ts'
import { type ErrorFacts, InvalidRequestError } from '../errors.ts'

type Spellings = Readonly<Record<StorageName, { wire: string; alternative: string }>>

/**
 * The storage with this name: ours or the service's, whatever the case, `-`, `_` and spaces. Throws
 * `InvalidRequestError` for any other name.
 */
export function matchStorage(spellings: Spellings, name: unknown, facts: Omit<ErrorFacts, 'service'>): StorageName {
  const { storage_a: a, storage_b: b, storage_c: c } = spellings
  const storage = findStorage(name, {
    storage_a: Object.values(a),
    storage_b: Object.values(b),
    storage_c: Object.values(c),
  })
  if (storage !== null) return storage
  throw new InvalidRequestError(`There is no storage "${name}". Known are ${Object.keys(spellings).join(', ')}.`, {
    ...facts,
    service: null,
  })
}
