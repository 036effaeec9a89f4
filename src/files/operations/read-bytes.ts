import { type Call, type ClientParts, factsOf } from '../call/call.ts'
import { pauseBeforeResend } from '../call/pause-before-resend.ts'
import { ConnectionError, ProtocolError } from '../errors.ts'
import { readChunks } from '../http/read-body.ts'
import { toTransportError } from '../http/transport-error.ts'
import { openBytes, type Position, RangeMismatch, type UrlHolder } from './open-bytes.ts'

export type BytesRead =
  /**
   * The bytes that follow begin here: 0, or where the ones before ended. `size` is that of the
   * whole file.
   */
  | { kind: 'from'; offset: number; etag: string | null; size: number | null }
  /** The bytes are written over once the next are asked for. */
  | { kind: 'chunk'; bytes: Uint8Array }

/**
 * The bytes of a file from a position to the end, over as many connections and URLs as it takes.
 * Tries are counted anew whenever bytes have come that were not there before. Throws
 * `ProtocolError` when the file has another size than is known.
 */
export async function* readBytes(wire: ClientParts, call: Call, start: Position): AsyncGenerator<BytesRead> {
  const urls: UrlHolder = { current: null }
  let position = start
  let furthest = start.offset
  for (let tries = 1; ; tries++) {
    try {
      const opened = await openBytes(wire, call, position, urls)
      if (opened.kind === 'complete') return
      const size = agreeOnSize(call, start.size, opened.size)
      position = { ...position, offset: opened.offset, etag: opened.etag, size }
      yield { kind: 'from', offset: opened.offset, etag: opened.etag, size }
      const patience = { clock: wire.settings.clock, stallMs: wire.settings.stallMs, facts: factsOf(call) }
      for await (const bytes of readChunks(opened.reply, patience)) {
        position.offset += bytes.byteLength
        requireRoom(call, position)
        if (position.offset > furthest) tries = 0
        furthest = Math.max(furthest, position.offset)
        yield { kind: 'chunk', bytes }
        opened.reply.release(bytes)
        // After the consumer is done with them: its time is not the server's.
        call.deadlineAt = wire.settings.clock.now() + call.totalMs
      }
      if (size === null || position.offset === size) return
      throw new ConnectionError('The connection ended before the file did.', factsOf(call))
    } catch (error) {
      position = await decideGoingOn(wire, call, { error, position, start, tries: Math.max(1, tries) })
    }
  }
}

async function decideGoingOn(
  wire: ClientParts,
  call: Call,
  failed: { error: unknown; position: Position; start: Position; tries: number },
): Promise<Position> {
  const error = toTransportError(failed.error, { signal: call.signal, facts: factsOf(call) })
  if (error instanceof RangeMismatch && failed.position.offset > 0) {
    return { ...failed.position, offset: 0, etag: null, size: failed.start.size }
  }
  await pauseBeforeResend(wire, call, { error, resend: 'any', tries: failed.tries, unreadable: 0 })
  return failed.position
}

function agreeOnSize(call: Call, known: number | null, announced: number | null): number | null {
  if (known === null || announced === null || known === announced) return known ?? announced
  throw new ProtocolError(
    `The file was said to have ${known} bytes, and now has ${announced}. List it again.`,
    factsOf(call),
  )
}

function requireRoom(call: Call, { offset, size }: Position): void {
  if (size === null || offset <= size) return
  throw new ProtocolError(`More bytes came than the ${size} that were announced.`, factsOf(call))
}
