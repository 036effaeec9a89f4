import { type ErrorFacts, ProtocolError } from '../../errors.ts'
import type { HttpReply } from '../../http/transport.ts'
import { typesOf } from '../../reply/reply-error.ts'
import type { KnownFile } from './known-file.ts'

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
