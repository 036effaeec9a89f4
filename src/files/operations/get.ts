import type { FileDetails, FileRef } from '../../core/service/file.ts'
import { type Call, factsOf } from '../call/call.ts'
import type { ClientParts } from '../call/client-parts.ts'
import { sendRequest } from '../call/send-request.ts'
import { ProtocolError } from '../errors.ts'
import { entryUrl } from '../http/request-url.ts'
import { parseDetails } from '../reply/parse-entry.ts'

/** The details of one entry. */
export async function getDetails(parts: ClientParts, call: Call, file: FileRef): Promise<FileDetails> {
  const url = entryUrl(parts.settings, file, '', factsOf(call))
  const reply = await sendRequest(parts, call, { method: 'GET', url, resend: 'any' })
  const details = parseDetails(file.service, reply.data)
  if (details === null) throw new ProtocolError('The reply holds no entry with an id.', factsOf(call))
  // Checked because the caller acts on the id that it asked for.
  if (details.id !== file.id)
    throw new ProtocolError('The reply describes another entry than the one requested.', factsOf(call))
  return details
}
