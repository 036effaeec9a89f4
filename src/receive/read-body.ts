import type { IncomingMessage } from 'node:http'
import type { IntakeLimit } from './limits/intake-limit.ts'

/** The exact bytes of a request, or why they could not be read. */
type BodyRead =
  /** The bytes count as in flight until `giveBytes`. */
  | { kind: 'read'; body: Buffer }
  | { kind: 'too_large'; bytes: number }
  /** Compressed. */
  | { kind: 'encoded'; encoding: string }
  /** Other code has read the body. */
  | { kind: 'consumed' }
  /** Too many bytes of other deliveries are in flight. */
  | { kind: 'no_room' }
  /** The sender closed the connection, or was too slow. */
  | { kind: 'broken'; bytes: number }

/**
 * Reads a body up to the limit. Refuses a larger `Content-Length` before reading, and an endless
 * body as soon as it exceeds the limit.
 */
export function readBody(request: IncomingMessage, intakeLimit: IntakeLimit): Promise<BodyRead> | BodyRead {
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') return { kind: 'encoded', encoding }
  if (request.readableDidRead || request.readableEnded || 'body' in request) return { kind: 'consumed' }
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > intakeLimit.limits.bodyBytes) return { kind: 'too_large', bytes: announced }
  return collect(request, intakeLimit)
}

function collect(request: IncomingMessage, intakeLimit: IntakeLimit): Promise<BodyRead> {
  return new Promise((resolve) => {
    const gathered = new GatheredBytes()
    let isSettled = false
    const settle = (read: BodyRead) => {
      if (isSettled) return
      isSettled = true
      if (read.kind !== 'read') intakeLimit.giveBytes(gathered.length)
      resolve(read)
    }
    request.on('data', (chunk: Buffer) => {
      if (isSettled) return
      const bytes = gathered.length + chunk.length
      const isTooLarge = bytes > intakeLimit.limits.bodyBytes
      if (!isTooLarge && intakeLimit.takeBytes(chunk.length)) return gathered.add(chunk)
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
 * Collects the chunks of a body, nearly always one. More are copied into one buffer, because a
 * buffer of one byte takes a hundred times its size.
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
