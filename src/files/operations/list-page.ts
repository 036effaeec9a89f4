import type { FileEntry } from '../../core/service/file.ts'
import type { ListQuery, Page } from '../../core/service/files-api.ts'
import type { Reply } from '../call/attempt.ts'
import { type Call, type ClientParts, factsOf } from '../call/call.ts'
import type { ListForm } from '../call/options.ts'
import { sendRequest } from '../call/send-request.ts'
import { FilesError, InvalidRequestError, ProtocolError } from '../errors.ts'
import { filesUrl, storagePath } from '../http/request-url.ts'
import { parseEntry, parseItems } from '../reply/parse-entry.ts'

const MAX_PER_PAGE = 100

/** A page with what the next one needs, in whichever form it came. */
export interface FilePage extends Page {
  /** The service's token of the next page; null where it gave none. */
  nextToken: string | null
}

/** `pageToken` is the `nextToken` of the page before; it goes before `page`. */
export interface FileQuery extends ListQuery {
  pageToken?: string
}

/** The form in which this client lists; `auto` until the service has shown which one it serves. */
export interface ListForms {
  current: ListForm
}

type Asked = Required<Omit<FileQuery, 'pageToken'>> & { pageToken: string | null }

/** One page. */
export async function listPage(wire: ClientParts, call: Call, query: FileQuery, forms: ListForms): Promise<FilePage> {
  const asked = completeQuery(call, query)
  if (forms.current === 'alternative') return readPage(call, asked, await sendAlternative(wire, call, asked))
  try {
    const reply = await sendPrimary(wire, call, asked)
    if (forms.current === 'auto') forms.current = 'primary'
    return readPage(call, asked, reply)
  } catch (error) {
    if (forms.current !== 'auto' || !isUnknownRoute(error)) throw error
    const reply = await sendAlternative(wire, call, asked).catch((second: unknown) => {
      throw isUnknownRoute(second) ? error : second
    })
    forms.current = 'alternative'
    return readPage(call, asked, reply)
  }
}

/** The same page of the same collection has the same key. */
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
  throw new InvalidRequestError(`"${name}" is a whole number from 1 up.`, factsOf(call))
}

function sendPrimary(wire: ClientParts, call: Call, asked: Asked): Promise<Reply> {
  const { settings } = wire
  const query: Record<string, string> = {
    service: settings.services[asked.service].wire,
    path: asked.path,
    recursive: String(asked.recursive),
    ...(asked.pageToken === null ? { page: String(asked.page) } : { [settings.pageTokenField]: asked.pageToken }),
    limit: String(asked.limit),
    sort: asked.sort,
  }
  return sendRequest(wire, call, { method: 'GET', url: filesUrl(settings, '', query), resend: 'any' })
}

/**
 * The specification gives this form a JSON body and no method. `fetch` refuses a GET with a body,
 * so it goes as POST.
 */
function sendAlternative(wire: ClientParts, call: Call, asked: Asked): Promise<Reply> {
  const { settings } = wire
  const body = {
    service: settings.services[asked.service].alternative,
    path: asked.path,
    recursive: asked.recursive,
    ...(asked.pageToken === null ? { page: asked.page } : { [settings.pageTokenField]: asked.pageToken }),
    limit: asked.limit,
    sort: asked.sort,
  }
  return sendRequest(wire, call, { method: 'POST', url: filesUrl(settings, '/list'), body, resend: 'any' })
}

/** No route, as opposed to a missing folder, which the service reports with a code. */
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

/** Whoever says something about the end is believed; else a page that is not full is the last. */
function hasMore(
  nextToken: string | null | undefined,
  totalPages: number | null,
  { asked, count }: { asked: Asked; count: number },
): boolean {
  if (nextToken !== undefined) return nextToken !== null
  if (totalPages !== null) return asked.page < totalPages && count > 0
  return count >= asked.limit
}
