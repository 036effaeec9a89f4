import type { FileEntry } from '../../core/service/file.ts'
import type { ListQuery, Page } from '../../core/service/files-api.ts'
import type { Reply } from '../call/attempt.ts'
import { type Call, factsOf } from '../call/call.ts'
import type { ClientParts } from '../call/client-parts.ts'
import type { ListForm } from '../call/options.ts'
import { sendRequest } from '../call/send-request.ts'
import { FilesError, InvalidRequestError, ProtocolError } from '../errors.ts'
import { filesUrl, storagePath } from '../http/request-url.ts'
import { parseEntry, parseItems } from '../reply/parse-entry.ts'

/** The largest page of the service. */
const MAX_PER_PAGE = 100

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

/** The form that this client uses; `auto` until the service has shown which one it has. */
export interface ListForms {
  current: ListForm
}

type Asked = Required<Omit<FileQuery, 'pageToken'>> & { pageToken: string | null }

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

function completeQuery(call: Call, query: FileQuery): Asked {
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

function sendPrimary(parts: ClientParts, call: Call, asked: Asked): Promise<Reply> {
  const { settings } = parts
  const query: Record<string, string> = {
    service: settings.services[asked.service].wire,
    path: asked.path,
    recursive: String(asked.recursive),
    ...(asked.pageToken === null ? { page: String(asked.page) } : { [settings.pageTokenField]: asked.pageToken }),
    limit: String(asked.limit),
    sort: asked.sort,
  }
  return sendRequest(parts, call, { method: 'GET', url: filesUrl(settings, '', query), resend: 'any' })
}

/**
 * The specification gives this form a JSON body and no method. It goes as POST, because `fetch`
 * refuses a GET with a body.
 */
function sendAlternative(parts: ClientParts, call: Call, asked: Asked): Promise<Reply> {
  const { settings } = parts
  const body = {
    service: settings.services[asked.service].alternative,
    path: asked.path,
    recursive: asked.recursive,
    ...(asked.pageToken === null ? { page: asked.page } : { [settings.pageTokenField]: asked.pageToken }),
    limit: asked.limit,
    sort: asked.sort,
  }
  return sendRequest(parts, call, { method: 'POST', url: filesUrl(settings, '/list'), body, resend: 'any' })
}

/** Whether the route is unknown. A missing folder has the code `resource_not_found`. */
function isUnknownRoute(error: unknown): boolean {
  if (!(error instanceof FilesError) || error.code === 'resource_not_found') return false
  return error.status === 404 || error.status === 405
}

function readPage(call: Call, asked: Asked, reply: Reply): FilePage {
  const found = parseItems(reply.data)
  if (found === null) throw new ProtocolError('The reply holds no list of entries.', factsOf(call))
  const items = found.items.map((raw) => parseEntry(asked.service, raw))
  if (!items.every((item): item is FileEntry => item !== null)) {
    throw new ProtocolError('The list holds an entry without an id.', factsOf(call))
  }
  const { pagination } = reply
  const isMore = hasMore(found.nextToken, pagination?.totalPages ?? null, { asked, count: items.length })
  return {
    items,
    nextPage: isMore ? asked.page + 1 : null,
    nextToken: found.nextToken ?? null,
    totalItems: pagination?.totalItems ?? null,
  }
}

/** The token decides, then the page count. Without both, a page that is not full is the last. */
function hasMore(
  nextToken: string | null | undefined,
  totalPages: number | null,
  { asked, count }: { asked: Asked; count: number },
): boolean {
  if (nextToken !== undefined) return nextToken !== null
  if (totalPages !== null) return asked.page < totalPages && count > 0
  return count >= asked.limit
}
