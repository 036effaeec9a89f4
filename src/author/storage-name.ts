import { z } from 'zod'
import { findStorage, type StorageName, type StorageSpellings } from '../core/service/storage.ts'

/**
 * The spellings for the parse that is running. A zod schema gets no context from its caller, so
 * they are set around each synchronous parse.
 */
let currentSpellings: StorageSpellings = {}

/** Runs `read` with an account's spellings for `storageName`; `read` must be synchronous. */
export function withStorageNames<T>(spellings: StorageSpellings, read: () => T): T {
  const before = currentSpellings
  currentSpellings = spellings
  try {
    return read()
  } finally {
    currentSpellings = before
  }
}

/**
 * A zod schema for the storage in an event's `data`. It takes the spelling of the account that sent
 * the event, in any case, and returns our name: `storage_a`, `storage_b` or `storage_c`.
 */
export const storageName = z.string().transform((name, context): StorageName => {
  const storage = findStorage(name, currentSpellings)
  if (storage !== null) return storage
  context.addIssue('must name a storage of the service')
  return z.NEVER
})
