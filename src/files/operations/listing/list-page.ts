import type { Reply } from '../../call/attempt.ts'
import { type Call, factsOf } from '../../call/call.ts'
import type { ClientParts } from '../../call/client-parts.ts'
import type { ListForm } from '../../call/options.ts'
import { sendRequest } from '../../call/send-request.ts'
import { FilesError, InvalidRequestError } from '../../errors.ts'
import { filesUrl, storagePath } from '../../http/request-url.ts'
import type { FilePage, FileQuery } from './file-page.ts'
import { type AskedPage, readPage } from './read-page.ts'

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
  return sendRequest(parts, call, { method: 'GET', url: filesUrl(settings, '', query), resend: 'any' })
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
  return sendRequest(parts, call, { method: 'POST', url: filesUrl(settings, '/list'), body, resend: 'any' })
}

/** Whether the route is unknown. A missing folder has the code `resource_not_found`. */
function isUnknownRoute(error: unknown): boolean {
  if (!(error instanceof FilesError) || error.code === 'resource_not_found') return false
  return error.status === 404 || error.status === 405
}
