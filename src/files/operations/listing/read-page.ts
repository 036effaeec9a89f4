import type { FileEntry } from '../../../core/service/file.ts'
import type { Reply } from '../../call/attempt.ts'
import { type Call, factsOf } from '../../call/call.ts'
import { ProtocolError } from '../../errors.ts'
import { hasUnsafeId, parseEntry, parseItems } from '../../reply/parse-entry.ts'
import type { Pagination } from '../../reply/parse-reply.ts'
import type { FilePage, FileQuery } from './file-page.ts'

/** A query with every default filled in. */
export type AskedPage = Required<Omit<FileQuery, 'pageToken'>> & { pageToken: string | null }

/** The service's page size unless it is asked for another. A shorter page is a short one. */
const DEFAULT_PER_PAGE = 20

/** The page in a reply. Throws `ProtocolError` for a reply on which nobody should act. */
export function readPage(call: Call, asked: AskedPage, reply: Reply): FilePage {
  const found = parseItems(reply.data)
  if (found === null) throw new ProtocolError('The reply holds no list of entries.', factsOf(call))
  if (found.nextToken === 'unusable')
    throw new ProtocolError('The reply holds a page token that is neither text nor a whole number.', factsOf(call))
  const items = found.items.map((raw) => {
    const entry = parseEntry(asked.service, raw, asked.path)
    if (entry === null) throw new ProtocolError(describeBadEntry(raw), factsOf(call))
    return entry
  })
  requireInside(call, asked, items)
  const isMore = hasMore(found.nextToken, reply.pagination, { asked, count: items.length })
  return {
    items,
    nextPage: isMore ? asked.page + 1 : null,
    nextToken: found.nextToken?.text ?? null,
    totalItems: reply.pagination?.totalItems ?? null,
  }
}

function describeBadEntry(raw: unknown): string {
  return hasUnsafeId(raw)
    ? 'The list holds an id that is a number beyond 2^53. It cannot be read exactly, so the list is refused.'
    : 'The list holds an entry without an id.'
}

/** Refuses the list of another folder, as a service sends it that ignores `path`. */
function requireInside(call: Call, asked: AskedPage, items: readonly FileEntry[]): void {
  const folder = comparable(asked.path)
  // Every path lies below the root, and a storage may give its root a name.
  if (folder === '/') return
  const isInside = (entry: FileEntry) => {
    const path = comparable(entry.path)
    if (path === folder) return true
    return path.startsWith(`${folder}/`) && (asked.recursive || !path.slice(folder.length + 1).includes('/'))
  }
  const stranger = items.find((entry) => !isInside(entry))
  if (stranger === undefined) return
  throw new ProtocolError(
    `The list of the folder ${asked.path} holds ${stranger.path}, which is not ${asked.recursive ? 'below' : 'in'} it.`,
    factsOf(call),
  )
}

/** A path for comparison: some storages ignore case, and compose letters differently. */
function comparable(path: string): string {
  const parts = path.normalize('NFC').toLowerCase().split('/')
  // A dot segment may lead anywhere, so the path counts as none of its folder's.
  if (parts.some((part) => part === '..' || part === '.')) return ''
  return `/${parts.filter((part) => part !== '').join('/')}`
}

/**
 * The token decides. Totals may only add pages. Without a total, a page as long as the service's
 * own limit may have a successor.
 */
function hasMore(
  token: { text: string | null } | undefined,
  pagination: Pagination | null,
  { asked, count }: { asked: AskedPage; count: number },
): boolean {
  if (token !== undefined) return token.text !== null
  if (asked.page < (pagination?.totalPages ?? 0)) return true
  const totalItems = pagination?.totalItems ?? null
  if (totalItems !== null && count > 0)
    return (asked.page - 1) * (pagination?.limit || asked.limit) + count < totalItems
  return totalItems === null && count >= Math.min(asked.limit, DEFAULT_PER_PAGE)
}
