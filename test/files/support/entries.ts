import { ok, type Reply } from './scripted-server.ts'

/** The entry that most tests ask for. */
export const REF = { service: 'storage_a', id: 'a' } as const

/** An entry in the primary form. */
export function entry(id: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id,
    name: `${id}.txt`,
    type: 'file',
    mimeType: 'text/plain',
    size: 5,
    path: `/in/${id}.txt`,
    createdAt: '2026-01-01T00:00:00.000Z',
    modifiedAt: '2026-01-02T00:00:00.000Z',
    ...more,
  }
}

/** An entry in the alternative form. */
export function snakeEntry(id: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id,
    name: `${id}.txt`,
    type: 'file',
    mime_type: 'text/plain',
    size: 5,
    path: `/in/${id}.txt`,
    created_at: '2026-01-01T00:00:00.000Z',
    modified_at: '2026-01-02T00:00:00.000Z',
    ...more,
  }
}

/** Entries whose ids are the numbers from `from` on. */
export function entries(from: number, count: number): Record<string, unknown>[] {
  return Array.from({ length: count }, (_, index) => entry(String(from + index)))
}

/** Replies with the entry that the request names. */
export function requestedEntry(headers: Record<string, string> = {}): Reply {
  return (response, request) => ok(entry(request.path.split('/').at(-1) ?? ''), {}, headers)(response, request)
}

/** Serves a collection by page number; `perPage` is the service's own bound of a page. */
export function paged(
  all: () => Record<string, unknown>[],
  { pagination = true, perPage = 100 }: { pagination?: boolean | Record<string, unknown>; perPage?: number } = {},
): Reply {
  return (response, request) => {
    const page = Number(request.query.get('page'))
    const limit = Math.min(perPage, Number(request.query.get('limit')))
    const items = all().slice((page - 1) * limit, page * limit)
    const totals = { page, limit, totalItems: all().length, totalPages: Math.ceil(all().length / limit) }
    const said = typeof pagination === 'object' ? { ...totals, ...pagination } : totals
    ok(items, pagination === false ? {} : { pagination: said })(response, request)
  }
}
