import { isPlainObject } from '../json.ts'

/** A path that events are searched for. */
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
