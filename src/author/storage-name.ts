import { z } from 'zod'
import type { StorageName, StorageSpellings } from '../core/service/storage.ts'
import { findStorage } from '../core/service/storage.ts'

let spellingsAtHand: StorageSpellings = {}

/**
 * Lets {@link storageName} take an account's spellings while `read` runs, which must not wait for
 * anything.
 */
export function withStorageNames<T>(spellings: StorageSpellings, read: () => T): T {
  const before = spellingsAtHand
  spellingsAtHand = spellings
  try {
    return read()
  } finally {
    spellingsAtHand = before
  }
}

/**
 * For the schema of an event: takes a storage as the service writes it, which depends on the
 * account that the event came from, and gives our own name of it.
 */
export const storageName = z.string().transform((name, context): StorageName => {
  const storage = findStorage(name, spellingsAtHand)
  if (storage !== null) return storage
  context.addIssue('must name a storage of the service')
  return z.NEVER
})
