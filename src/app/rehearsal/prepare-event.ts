import { findStorage, type StorageSpellings } from '../../core/service/storage.ts'
import { isSecretName, REDACTED } from '../../engine/play/portable.ts'

/**
 * The body of an event for a rehearsal: without its secrets, and with our names of storages. Any
 * other body stays byte for byte.
 */
export function prepareEvent(body: string, spellings: StorageSpellings): string {
  let isChanged = false
  const changed = JSON.stringify(JSON.parse(body), (name, value: unknown) => {
    const other = replace(name, value, spellings)
    isChanged ||= other !== value
    return other
  })
  return isChanged ? changed : body
}

function replace(name: string, value: unknown, spellings: StorageSpellings): unknown {
  if (typeof value !== 'string') return value
  if (isSecretName(name)) return REDACTED
  return name === 'service' ? (findStorage(value, spellings) ?? value) : value
}
