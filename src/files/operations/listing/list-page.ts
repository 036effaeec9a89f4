import type { FileEntry } from '../../../core/service/file.ts'
import type { ListQuery, Page } from '../../../core/service/files-api.ts'
import type { Reply } from '../../call/attempt.ts'
import { type Call, factsOf } from '../../call/call.ts'
import type { ClientParts } from '../../call/client-parts.ts'
import type { ListForm } from '../../call/options.ts'
import { sendRequest } from '../../call/send-request.ts'
import { FilesError, InvalidRequestError, ProtocolError } from '../../errors.ts'
import { filesUrl, storagePath } from '../../http/request-url.ts'
import { hasUnsafeId, parseEntry, parseItems } from '../../reply/parse-entry.ts'
import type { Pagination } from '../../reply/parse-reply.ts'

/** The largest page of the service. */
const MAX_PER_PAGE = 100

/** The form that this client uses; `auto` until the service has shown which one it has. */
export interface ListForms {
  current: ListForm
}

/**
 * Lists one page. In `auto` it changes to the alternative form, for good, after an unknown route.
 */
export async function listPage(parts: ClientParts, call: Call, query: FileQuery, forms: ListForms): Promise<FilePage> {
  const asked = completeQuery(call, query)
  if (forms.current === 'alternative') return readPage(call, asked, await sendAlternative(parts, call, asked))
  try {
    const reply = await sendPrimary(parts, call, asked)
    if (forms.current === 'auto') forms.current = 'primary'
    return readPage(call, asked, reply)
  } catch (error) {
    if (forms.current !== 'auto' || !isUnknownRoute(error)) throw error
    const reply = await sendAlternative(parts, call, asked).catch((second: unknown) => {
      throw isUnknownRoute(second) ? error : second
    })
    forms.current = 'alternative'
    return readPage(call, asked, reply)
  }
}

/** Equal for equal queries. */
export function pageKey(query: FileQuery): string {
  const { service, path = '/', recursive = false, page = 1, limit, sort, pageToken } = query
  return JSON.stringify([service, path, recursive, page, limit, sort, pageToken])
}

function completeQuery(call: Call, query: FileQuery): AskedPage {
  return {
    service: query.service,
    path: storagePath(query.path ?? '/', factsOf(call)),
    recursive: query.recursive ?? false,
    page: requireCount(call, 'page', query.page ?? 1),
    limit: Math.min(MAX_PER_PAGE, requireCount(call, 'limit', query.limit ?? MAX_PER_PAGE)),
    sort: query.sort ?? '-createdAt',
    pageToken: query.pageToken ?? null,
  }
}

function requireCount(call: Call, name: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 1) return value
  throw new InvalidRequestError(`"${name}" must be a whole number of at least 1.`, factsOf(call))
}

function sendPrimary(parts: ClientParts, call: Call, asked: AskedPage): Promise<Reply> {
  const { settings } = parts
  const query: Record<string, string> = {
    service: settings.services[asked.service].wire,
    path: asked.path,
    recursive: String(asked.recursive),
    ...(asked.pageToken === null ? { page: String(asked.page) } : { [settings.pageTokenField]: asked.pageToken }),
    limit: String(asked.limit),
    sort: asked.sort,
  }
  return sendRequest(parts, call, { method: 'GET', url: filesUrl(settings, '', query) })
}

/**
 * The specification gives this form a JSON body and no method. It goes as POST, because `fetch`
 * refuses a GET with a body.
 */
function sendAlternative(parts: ClientParts, call: Call, asked: AskedPage): Promise<Reply> {
  const { settings } = parts
  const body = {
    service: settings.services[asked.service].alternative,
    path: asked.path,
    recursive: asked.recursive,
    ...(asked.pageToken === null ? { page: asked.page } : { [settings.pageTokenField]: asked.pageToken }),
    limit: asked.limit,
    sort: asked.sort,
  }
  return sendRequest(parts, call, { method: 'POST', url: filesUrl(settings, '/list'), body })
}

/** Whether the route is unknown. A missing folder has the code `resource_not_found`. */
function isUnknownRoute(error: unknown): boolean {
  if (!(error instanceof FilesError) || error.code === 'resource_not_found') return false
  return error.status === 404 || error.status === 405
}

/** A page of entries, and the token of the next one. */
export interface FilePage extends Page {
  /** The service's token of the next page; null when it gave none. */
  nextToken: string | null
}

/** A page to list. Default: the first, newest entries first. */
export interface FileQuery extends ListQuery {
  /** The `nextToken` of the page before; it replaces `page`. */
  pageToken?: string
}

/** The entries of a storage below one path. */
export type Collection = Omit<ListQuery, 'page' | 'limit' | 'sort'>

/** A query with every default filled in. */
type AskedPage = Required<Omit<FileQuery, 'pageToken'>> & { pageToken: string | null }

/** The service's page size unless it is asked for another. A shorter page is a short one. */
const DEFAULT_PER_PAGE = 20

/** The page in a reply. Throws `ProtocolError` for a reply on which nobody should act. */
function readPage(call: Call, asked: AskedPage, reply: Reply): FilePage {
  const found = parseItems(reply.data)
  if (found === null) throw new ProtocolError('The reply has no list of entries.', factsOf(call))
  if (found.nextToken === 'unusable')
    throw new ProtocolError('The reply has a page token that is neither text nor a whole number.', factsOf(call))
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
    ? 'The list has an id that is a number beyond 2^53. It cannot be read exactly, so the list is refused.'
    : 'The list has an entry without an id.'
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
