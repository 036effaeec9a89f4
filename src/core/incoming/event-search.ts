import { isPlainObject } from '../json.ts'

/** Selects events; every part narrows. A pruned event has neither a path nor words. */
export interface EventSearch {
  /** Received at this moment or later, in epoch milliseconds. */
  since?: number
  /** Received before this moment, in epoch milliseconds. */
  until?: number
  /** The first characters of the id, exactly; ids are foreign text of any form. */
  idBeginning?: string
  /** A type, or a family such as `file.*`. */
  type?: string
  account?: string
  /** As `storage_a:/in/a.pdf`, or without the storage; a `*` at the end stands for any rest. */
  path?: string
  /** A file or id that the event tells of, such as `storage_a:/in/a.pdf`; see `listSubjects`. */
  subject?: string
  /** Words that the body contains, each anywhere; ASCII letters in any case. */
  words?: readonly string[]
}

interface PathPattern {
  /** Null: in any storage. */
  service: string | null
  path: string
  /** Whether more may follow. */
  isPrefix: boolean
}

/** Reads `storage_a:/in/a.pdf`, `/in/*` and the like; a `*` at the end stands for any rest. */
export function parsePathPattern(text: string): PathPattern {
  const [, service = null, rest = ''] = /^(?:([\w-]+):(?=\/))?(.*)$/s.exec(text) ?? []
  const isPrefix = rest.endsWith('*')
  return { service, path: isPrefix ? rest.slice(0, -1) : rest, isPrefix }
}

/**
 * True when a text in the data of an event is such a path. Its storage is the nearest `service`
 * around it, because no shape of the data is documented.
 */
export function mentionsPath(data: unknown, pattern: PathPattern, service: string | null = null): boolean {
  if (typeof data === 'string') {
    const isThere = pattern.isPrefix ? data.startsWith(pattern.path) : data === pattern.path
    return isThere && (pattern.service === null || pattern.service === service)
  }
  if (Array.isArray(data)) return data.some((item) => mentionsPath(item, pattern, service))
  if (!isPlainObject(data)) return false
  const own = typeof data.service === 'string' ? data.service : service
  return Object.values(data).some((value) => mentionsPath(value, pattern, own))
}
