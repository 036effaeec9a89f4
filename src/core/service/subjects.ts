import { isPlainObject } from '../json.ts'
import { STORAGES } from './storage.ts'

/**
 * Each path and each `id` in the data of an event, alone and with the nearest `service` around it.
 * Such are `/x`, `storage_a:/x`, `fil_1` and `storage_a:fil_1`.
 */
export function listSubjects(data: unknown): string[] {
  const found = new Set<string>()
  const walk = (value: unknown, name: string, service: string | null) => {
    if (typeof value === 'string') {
      if (value === '' || !(value.startsWith('/') || name === 'id')) return
      found.add(value)
      if (service !== null) found.add(`${service}:${value}`)
    } else if (Array.isArray(value)) {
      for (const item of value) walk(item, name, service)
    } else if (isPlainObject(value)) {
      const own = typeof value.service === 'string' ? value.service : service
      for (const [key, item] of Object.entries(value)) walk(item, key, own)
    }
  }
  walk(data, '', null)
  return [...found]
}

/** The same without those that are there with their storage, too: the least that finds all. */
export function listWholeSubjects(data: unknown): string[] {
  const all = new Set(listSubjects(data))
  return [...all].filter((each) => !STORAGES.some((storage) => all.has(`${storage}:${each}`)))
}

/** The whole subjects that a subject may stand for: one without a storage is in any, or in none. */
export function widenSubject(subject: string): string[] {
  if (STORAGES.some((storage) => subject.startsWith(`${storage}:`))) return [subject]
  return [subject, ...STORAGES.map((storage) => `${storage}:${subject}`)]
}
