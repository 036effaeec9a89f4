import type { FileRef } from '../core/file.ts'
import { ProtocolError } from './errors.ts'
import { parseDownloadUrl } from './parse-entry.ts'
import { entryUrl } from './request-url.ts'
import { Secret } from './secret.ts'
import { sendRequest } from './send-request.ts'
import { type Call, factsOf, type Wire } from './wire.ts'

/** A temporary address of an entry's bytes. Whoever has it needs no key, so it is kept like one. */
export interface DownloadUrl {
  url: Secret
  /** Epoch milliseconds; null where the service did not say. */
  expiresAt: number | null
}

/** Asks the service for a fresh download URL. */
export async function fetchDownloadUrl(wire: Wire, call: Call, file: FileRef): Promise<DownloadUrl> {
  const url = entryUrl(wire.settings, file, '/download', factsOf(call))
  const reply = await sendRequest(wire, call, { method: 'GET', url, resend: 'any' })
  const found = parseDownloadUrl(reply.data)
  if (found === null) throw new ProtocolError('The reply holds no download URL.', factsOf(call))
  return { url: new Secret(found.url), expiresAt: found.expiresAt }
}
