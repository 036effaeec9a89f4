import type { IncomingMessage } from 'node:http'
import type { IntakeLimit } from './limits/intake.ts'

/** The exact bytes of a request, or why they are not to be had. */
export type BodyRead =
  /** The bytes count against the gate's budget until they are given back. */
  | { kind: 'read'; body: Buffer }
  | { kind: 'too_large'; bytes: number }
  /** Compressed. */
  | { kind: 'encoded'; encoding: string }
  /** Read by somebody else before us. */
  | { kind: 'consumed' }
  /** Too many bytes of others are in flight. */
  | { kind: 'no_room' }
  /** The sender went away, or was too slow. */
  | { kind: 'broken'; bytes: number }

/**
 * Reads at most the limit. An announced size over it is refused before a byte is read, an endless
 * body as soon as it passes it; the caller closes the connection then. body-parser would read all
 * of it first.
 */
export function readBody(request: IncomingMessage, gate: IntakeLimit): Promise<BodyRead> | BodyRead {
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') return { kind: 'encoded', encoding }
  if (request.readableDidRead || request.readableEnded || 'body' in request) return { kind: 'consumed' }
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > gate.limits.bodyBytes) return { kind: 'too_large', bytes: announced }
  return collect(request, gate)
}

function collect(request: IncomingMessage, gate: IntakeLimit): Promise<BodyRead> {
  return new Promise((resolve) => {
    const gathered = new GatheredBytes()
    let isSettled = false
    const settle = (read: BodyRead) => {
      if (isSettled) return
      isSettled = true
      if (read.kind !== 'read') gate.giveBytes(gathered.length)
      resolve(read)
    }
    request.on('data', (chunk: Buffer) => {
      if (isSettled) return
      const bytes = gathered.length + chunk.length
      const isTooLarge = bytes > gate.limits.bodyBytes
      if (!isTooLarge && gate.takeBytes(chunk.length)) return gathered.add(chunk)
      request.pause()
      settle(isTooLarge ? { kind: 'too_large', bytes } : { kind: 'no_room' })
      gathered.clear()
    })
    request.on('end', () => settle({ kind: 'read', body: gathered.take() }))
    const lose = () => settle({ kind: 'broken', bytes: gathered.length })
    request.on('error', lose).on('close', lose)
  })
}

const EMPTY = Buffer.alloc(0)

/**
 * Bytes that come in pieces. The first piece is kept as it is: nearly every body is one. More of
 * them are copied together, because a chunk of one byte in a buffer of its own takes a hundred
 * times its size.
 */
class GatheredBytes {
  #bytes: Buffer = EMPTY
  #length = 0

  get length(): number {
    return this.#length
  }

  add(chunk: Buffer): void {
    if (this.#length === 0) this.#bytes = chunk
    else this.#append(chunk)
    this.#length += chunk.length
  }

  take(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  clear(): void {
    this.#bytes = EMPTY
    this.#length = 0
  }

  #append(chunk: Buffer): void {
    const needed = this.#length + chunk.length
    if (this.#bytes.length < needed) {
      const larger = Buffer.allocUnsafeSlow(needed * 2)
      this.#bytes.copy(larger, 0, 0, this.#length)
      this.#bytes = larger
    }
    chunk.copy(this.#bytes, this.#length)
  }
}
