import type { FileRef } from '../../core/service/file.ts'
import { type Call, factsOf } from '../call/call.ts'
import type { ClientParts } from '../call/client-parts.ts'
import { sendRequest } from '../call/send-request.ts'
import { ProtocolError } from '../errors.ts'
import { entryUrl } from '../http/request-url.ts'
import { parseDownloadUrl } from '../reply/parse-entry.ts'
import { Secret } from '../secret.ts'

/** A temporary address of an entry's bytes. It needs no key, so it is protected like one. */
export interface DownloadUrl {
  url: Secret
  /** Epoch milliseconds; null where the service did not say. */
  expiresAt: number | null
}

export async function fetchDownloadUrl(parts: ClientParts, call: Call, file: FileRef): Promise<DownloadUrl> {
  const url = entryUrl(parts.settings, file, '/download', factsOf(call))
  const reply = await sendRequest(parts, call, { method: 'GET', url, resend: 'any' })
  const found = parseDownloadUrl(reply.data)
  if (found === null) throw new ProtocolError('The reply has no download URL.', factsOf(call))
  return { url: new Secret(found.url), expiresAt: found.expiresAt }
}
