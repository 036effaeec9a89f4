import { isPlainObject } from '../json.ts'
import type { EventRecord } from './event.ts'

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
