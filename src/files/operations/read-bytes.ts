import { type Call, factsOf } from '../call/call.ts'
import type { ClientParts } from '../call/client-parts.ts'
import { pauseBeforeResend } from '../call/pause-before-resend.ts'
import { ConnectionError, ProtocolError } from '../errors.ts'
import { readChunks } from '../http/read-body.ts'
import { toTransportError } from '../http/transport-error.ts'
import { openBytes, type Position, RangeMismatch, type UrlHolder } from './open-bytes.ts'

type BytesRead =
  /**
   * The next chunk begins here: at 0, or where the one before ended. `size` is the whole file's.
   */
  | { kind: 'from'; offset: number; etag: string | null; size: number | null }
  /** The bytes are valid until the next chunk is requested. */
  | { kind: 'chunk'; bytes: Uint8Array }

/**
 * The bytes of a file from a position to its end, over as many connections as needed. Throws
 * `ProtocolError` when the size differs.
 */
export async function* readBytes(parts: ClientParts, call: Call, start: Position): AsyncGenerator<BytesRead> {
  const urls: UrlHolder = { current: null }
  let position = start
  let furthest = start.offset
  for (let tries = 1; ; tries++) {
    try {
      const opened = await openBytes(parts, call, position, urls)
      if (opened.kind === 'complete') return
      const size = agreeOnSize(call, start.size, opened.size)
      position = { ...position, offset: opened.offset, etag: opened.etag, size }
      yield { kind: 'from', offset: opened.offset, etag: opened.etag, size }
      const patience = { clock: parts.settings.clock, stallMs: parts.settings.stallMs, facts: factsOf(call) }
      for await (const bytes of readChunks(opened.reply, patience)) {
        position.offset += bytes.byteLength
        requireRoom(call, position)
        // New bytes restart the count of tries.
        if (position.offset > furthest) tries = 0
        furthest = Math.max(furthest, position.offset)
        yield { kind: 'chunk', bytes }
        opened.reply.release(bytes)
        // Set after the consumer is done: its time does not count against the server.
        call.deadlineAt = parts.settings.clock.now() + call.totalMs
      }
      if (size === null || position.offset === size) return
      throw new ConnectionError('The connection ended before the file did.', factsOf(call))
    } catch (error) {
      position = await nextPosition(parts, call, { error, position, start, tries: Math.max(1, tries) })
    }
  }
}

/** The position of the next attempt, after its pause. Throws the failure when there is none. */
async function nextPosition(
  parts: ClientParts,
  call: Call,
  failed: { error: unknown; position: Position; start: Position; tries: number },
): Promise<Position> {
  const error = toTransportError(failed.error, { signal: call.signal, facts: factsOf(call) })
  if (error instanceof RangeMismatch && failed.position.offset > 0) {
    return { ...failed.position, offset: 0, etag: null, size: failed.start.size }
  }
  await pauseBeforeResend(parts, call, { error, resend: 'any', tries: failed.tries, unreadable: 0 })
  return failed.position
}

/** Throws when the file was announced with another size before. */
function agreeOnSize(call: Call, known: number | null, announced: number | null): number | null {
  if (known === null || announced === null || known === announced) return known ?? announced
  throw new ProtocolError(`The file should have ${known} bytes and now has ${announced}. List it again.`, factsOf(call))
}

function requireRoom(call: Call, { offset, size }: Position): void {
  if (size === null || offset <= size) return
  throw new ProtocolError(`The server sent more than the ${size} bytes that it announced.`, factsOf(call))
}
