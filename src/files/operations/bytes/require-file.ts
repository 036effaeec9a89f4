import type { Downloadable, FileEntry, FileRef } from '../../../core/service/file.ts'
import type { Call } from '../../call/call.ts'
import type { ClientParts } from '../../call/client-parts.ts'
import { type ErrorFacts, ProtocolError } from '../../errors.ts'
import type { HttpReply } from '../../http/transport.ts'
import { typesOf } from '../../reply/reply-error.ts'
import { getDetails } from '../get.ts'

const HTML = /^(text\/html|application\/xhtml\+xml)$/
const HTML_NAME = /\.x?html?$/i
const JSON_TYPE = /^application\/([\w.-]+\+)?json$/
const JSON_NAME = /json$/i
/** Types that say nothing about a file. */
const ANY_TYPE = /^(application\/octet-stream|binary\/octet-stream|)$/

/** Refuses a body in a content coding, and an error page that came with a status of success. */
export function requireFile(reply: Pick<HttpReply, 'headers'>, file: KnownFile, facts: ErrorFacts): void {
  const { headers } = reply
  const coding = headers.get('content-encoding')?.trim().toLowerCase() ?? ''
  if (coding !== '' && coding !== 'identity') {
    throw new ProtocolError(
      `The download host sent the file in the content coding "${coding}", although it was asked for plain bytes.`,
      { ...facts, ...typesOf(headers) },
    )
  }
  const page = describePage(headers, file)
  if (page === null) return
  throw new ProtocolError(`The download host sent ${page} in place of the file, most likely about an error.`, {
    ...facts,
    ...typesOf(headers),
    retryable: true,
  })
}

function describePage(headers: Headers, file: KnownFile): string | null {
  const type = mediaType(headers.get('content-type'))
  const own = mediaType(file.mimeType)
  if (HTML.test(type) && !HTML.test(own) && !HTML_NAME.test(file.name ?? '')) {
    // A file of unknown type may be HTML; then only its length tells.
    return ANY_TYPE.test(own) && hasKnownLength(headers, file) ? null : `a page of the type ${type}`
  }
  if (file.size !== null || !JSON_TYPE.test(type) || JSON_NAME.test(own) || JSON_NAME.test(file.name ?? '')) return null
  return `a reply of the type ${type}`
}

function hasKnownLength(headers: Headers, { size }: KnownFile): boolean {
  const length = headers.get('content-range')?.split('/')[1] ?? headers.get('content-length')
  return size !== null && length === String(size)
}

function mediaType(value: string | null): string {
  return value?.split(';')[0]?.trim().toLowerCase() ?? ''
}

/** A file as the service described it before its bytes were read. */
export interface KnownFile extends FileRef, Pick<FileEntry, 'size' | 'modifiedAt' | 'mimeType'> {
  /** Null where it is not known. */
  name: string | null
  /** True where the caller named no size, so that a look of our own told it. */
  isLookedUp: boolean
}

/** Completes what the caller knows of a file. Without a size, it reads the entry first. */
export async function knowFile(parts: ClientParts, call: Call, file: Downloadable): Promise<KnownFile> {
  const { service, id, size = null, modifiedAt = null, mimeType = null, name = null } = file
  if (size !== null) return { service, id, size, modifiedAt, mimeType, name, isLookedUp: false }
  return lookAgain(parts, call, { service, id, size, modifiedAt, mimeType, name, isLookedUp: true })
}

/** The file as it is now. A size that the caller named stays: other bytes are not what it wants. */
export async function lookAgain(parts: ClientParts, call: Call, known: KnownFile): Promise<KnownFile> {
  const { size, modifiedAt, mimeType, name } = await getDetails(parts, call, known)
  return { ...known, modifiedAt, mimeType, name, size: known.isLookedUp ? size : known.size }
}

/** Whether the file still has the size and date that it had. Without both, nobody can say. */
export async function isSameVersion(parts: ClientParts, call: Call, known: KnownFile): Promise<boolean> {
  if (known.size === null || known.modifiedAt === null) return false
  const now = await getDetails(parts, call, known)
  return now.size === known.size && Date.parse(now.modifiedAt ?? '') === Date.parse(known.modifiedAt)
}
