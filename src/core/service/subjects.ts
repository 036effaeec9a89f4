import type { EventRecord } from '../incoming/event.ts'
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

/** The file or transfer that an event tells of, in words; null where its body names none. */
export function nameSubject({ type, body }: Pick<EventRecord, 'type' | 'body'>): string | null {
  const data: unknown = body === '' ? null : JSON.parse(body).data
  if (!isPlainObject(data)) return null
  const { file, transfer } = data
  if (isPlainObject(transfer) && typeof transfer.id === 'string') {
    const ends = [transfer.source, transfer.destination].map(namePlace).filter((end) => end !== null)
    return [`transfer ${transfer.id}`, ...(ends.length === 2 ? [`${ends[0]} → ${ends[1]}`] : [])].join(', ')
  }
  if (!type.startsWith('file.') || !isPlainObject(file)) return null
  const place = namePlace({ service: data.service, ...file })
  return place === null ? null : `file ${place}`
}

function namePlace(value: unknown): string | null {
  if (!isPlainObject(value)) return null
  const { service, path, id } = value
  const where = typeof path === 'string' ? path : id
  if (typeof where !== 'string') return null
  return typeof service === 'string' ? `${service}:${where}` : where
}
