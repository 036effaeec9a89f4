import type { IncomingMessage } from 'node:http'
import type { IntakeLimit } from './limits/intake-limit.ts'
import type { Share } from './limits/peers.ts'
import type { Upload, UploadWatch } from './limits/upload-watch.ts'

/** The exact bytes of a request, or why they could not be read. */
type BodyRead =
  /** `held` bytes count as in flight until `giveBytes`. */
  | { kind: 'read'; body: Buffer; held: number }
  | { kind: 'too_large'; bytes: number }
  /** Compressed. */
  | { kind: 'encoded'; encoding: string }
  /** Other code has read the body. */
  | { kind: 'consumed' }
  /** Too many bytes of other deliveries are in flight. */
  | { kind: 'no_room' }
  /** The sender closed the connection, or was too slow. */
  | { kind: 'broken'; bytes: number }
  /** It comes in so many chunks of a few bytes that reading them is a burden. */
  | { kind: 'trickling'; bytes: number }

interface BodySource {
  share: Share
  uploads: UploadWatch
  /** Maximum size. */
  maxBytes: number
  /** False: the bytes are dropped as they come, and the body that is read is as long and blank. */
  isKept: boolean
}

/** Largest body that is read for a path without an endpoint. Nothing of it is kept. */
export const UNKNOWN_BODY_BYTES = 65_536

const BLANK = Buffer.alloc(UNKNOWN_BODY_BYTES)

/**
 * Reads a body up to the limit. Refuses a larger `Content-Length` before reading, and an endless
 * body as soon as it exceeds the limit.
 */
export function readBody(
  request: IncomingMessage,
  intakeLimit: IntakeLimit,
  source: BodySource,
): Promise<BodyRead> | BodyRead {
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') return { kind: 'encoded', encoding }
  if (request.readableDidRead || request.readableEnded || 'body' in request) return { kind: 'consumed' }
  // Its sender went away before, and no event will tell of that any more.
  if (request.destroyed) return { kind: 'broken', bytes: 0 }
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > source.maxBytes) return { kind: 'too_large', bytes: announced }
  return collect(request, intakeLimit, source)
}

function collect(
  request: IncomingMessage,
  intakeLimit: IntakeLimit,
  { share, uploads, maxBytes, isKept }: BodySource,
): Promise<BodyRead> {
  return new Promise((resolve) => {
    const gathered = isKept ? new GatheredBytes() : new CountedBytes()
    let isSettled = false
    const settle = (read: BodyRead) => {
      if (isSettled) return
      isSettled = true
      uploads.remove(gathered)
      if (read.kind !== 'read') intakeLimit.giveBytes(gathered.held, share)
      resolve(read)
    }
    const lose = () => settle({ kind: 'broken', bytes: gathered.length })
    const stop = (read: BodyRead) => {
      request.pause()
      settle(read)
      gathered.clear()
    }
    gathered.cutOff = () => stop({ kind: 'broken', bytes: gathered.length })
    uploads.add(gathered)
    request.on('data', (chunk: Buffer) => {
      if (isSettled) return
      const bytes = gathered.length + chunk.length
      if (bytes > maxBytes) return stop({ kind: 'too_large', bytes })
      if (isKept && !intakeLimit.takeBytes(chunk.length, share, gathered.length)) return stop({ kind: 'no_room' })
      gathered.add(chunk)
      if (gathered.isTrickling) stop({ kind: 'trickling', bytes })
    })
    request.on('end', () => settle({ kind: 'read', body: gathered.take(), held: gathered.held }))
    request.on('error', lose).on('close', lose)
  })
}

/** Chunks after which their average size counts, and the least that it may be, in bytes. */
const MANY_CHUNKS = 2_000
const MIN_CHUNK_BYTES = 64

const NEVER = () => {}

/** The length of a body whose bytes are dropped. */
class CountedBytes implements Upload {
  length = 0
  cutOff = NEVER
  #chunks = 0

  get held(): number {
    return 0
  }

  /** Whether it comes in chunks of a few bytes, each of which costs as much as a large one. */
  get isTrickling(): boolean {
    return this.#chunks > MANY_CHUNKS && this.length < this.#chunks * MIN_CHUNK_BYTES
  }

  add(chunk: Buffer): void {
    this.length += chunk.length
    this.#chunks += 1
  }

  take(): Buffer {
    return BLANK.subarray(0, this.length)
  }

  clear(): void {}
}

const EMPTY = Buffer.alloc(0)

/**
 * Collects the chunks of a body, nearly always one. More are copied into one buffer, because a
 * buffer of one byte takes a hundred times its size.
 */
class GatheredBytes extends CountedBytes {
  #bytes: Buffer = EMPTY

  override get held(): number {
    return this.length
  }

  override add(chunk: Buffer): void {
    if (this.length === 0) this.#bytes = chunk
    else this.#append(chunk)
    super.add(chunk)
  }

  override take(): Buffer {
    return this.#bytes.subarray(0, this.length)
  }

  override clear(): void {
    this.#bytes = EMPTY
  }

  #append(chunk: Buffer): void {
    const needed = this.length + chunk.length
    if (this.#bytes.length < needed) {
      const larger = Buffer.allocUnsafeSlow(needed * 2)
      this.#bytes.copy(larger, 0, 0, this.length)
      this.#bytes = larger
    }
    chunk.copy(this.#bytes, this.length)
  }
}
