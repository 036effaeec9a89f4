import type { FileDetails, FileRef } from '../../core/service/file.ts'
import { type Call, type ClientParts, factsOf } from '../call/call.ts'
import { sendRequest } from '../call/send-request.ts'
import { ProtocolError } from '../errors.ts'
import { entryUrl } from '../http/request-url.ts'
import { parseDetails } from '../reply/parse-entry.ts'

/** The details of one entry. */
export async function getDetails(wire: ClientParts, call: Call, file: FileRef): Promise<FileDetails> {
  const url = entryUrl(wire.settings, file, '', factsOf(call))
  const reply = await sendRequest(wire, call, { method: 'GET', url, resend: 'any' })
  const details = parseDetails(file.service, reply.data)
  if (details === null) throw new ProtocolError('The reply holds no entry with an id.', factsOf(call))
  // Whatever is done next is done to the id that was asked for.
  if (details.id !== file.id)
    throw new ProtocolError('The reply describes another entry than was asked for.', factsOf(call))
  return details
}
