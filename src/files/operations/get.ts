import type { FileDetails, FileRef } from '../../core/service/file.ts'
import { type Call, factsOf } from '../call/call.ts'
import type { ClientParts } from '../call/client-parts.ts'
import { sendRequest } from '../call/send-request.ts'
import { ProtocolError } from '../errors.ts'
import { entryUrl } from '../http/request-url.ts'
import { hasUnsafeId, parseDetails, parseDownloadUrl } from '../reply/parse-entry.ts'
import { Secret } from '../secret.ts'

/** The details of one entry. */
export async function getDetails(parts: ClientParts, call: Call, file: FileRef): Promise<FileDetails> {
  return (await readDetails(parts, call, file)).details
}

/** The details of one entry, and the reply in the service's own words. */
export async function readDetails(
  parts: ClientParts,
  call: Call,
  file: FileRef,
  pair?: 'look' | undefined,
): Promise<{ details: FileDetails; raw: unknown }> {
  const url = entryUrl(parts.settings, file, '', factsOf(call))
  const reply = await sendRequest(parts, call, { method: 'GET', url, pair })
  const details = parseDetails(file.service, reply.data)
  if (details === null) {
    const message = hasUnsafeId(reply.data)
      ? 'The reply has an id that is a number beyond 2^53, which cannot be read exactly.'
      : 'The reply has no entry with an id.'
    throw new ProtocolError(message, factsOf(call))
  }
  // Checked because the caller acts on the id that it asked for.
  if (details.id !== file.id)
    throw new ProtocolError('The reply describes another entry than the one requested.', factsOf(call))
  return { details, raw: reply.data }
}

/** A temporary address of an entry's bytes. It needs no key, so it is protected like one. */
export interface DownloadUrl {
  url: Secret
  /** Epoch milliseconds; null where the service did not say. */
  expiresAt: number | null
}

export async function fetchDownloadUrl(parts: ClientParts, call: Call, file: FileRef): Promise<DownloadUrl> {
  const url = entryUrl(parts.settings, file, '/download', factsOf(call))
  const reply = await sendRequest(parts, call, { method: 'GET', url })
  const found = parseDownloadUrl(reply.data)
  if (found === null) throw new ProtocolError('The reply has no download URL.', factsOf(call))
  return { url: new Secret(found.url), expiresAt: found.expiresAt }
}
