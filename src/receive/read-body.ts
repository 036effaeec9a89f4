import type { IncomingMessage } from 'node:http'

/** The exact bytes of a request, or why they are not to be had. */
export type BodyRead =
  | { kind: 'read'; body: Buffer }
  | { kind: 'too_large'; bytes: number }
  /** Compressed, or read by somebody else before us. */
  | { kind: 'not_raw'; reason: string }
  /** The sender went away. */
  | { kind: 'broken' }

/**
 * Reads at most `limitBytes`. An announced size over the limit is refused before a byte is read, an endless body as soon
 * as it passes the limit; the caller closes the connection then. body-parser would read all of it first.
 */
export function readBody(request: IncomingMessage, limitBytes: number): Promise<BodyRead> | BodyRead {
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') return { kind: 'not_raw', reason: `encoded as ${encoding}` }
  if (request.readableEnded || 'body' in request) return { kind: 'not_raw', reason: 'the body was read already' }
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > limitBytes) return { kind: 'too_large', bytes: announced }
  return collect(request, limitBytes)
}

function collect(request: IncomingMessage, limitBytes: number): Promise<BodyRead> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= limitBytes) return chunks.push(chunk)
      request.pause()
      resolve({ kind: 'too_large', bytes })
    })
    request.on('end', () =>
      resolve({ kind: 'read', body: chunks.length === 1 ? (chunks[0] ?? EMPTY) : Buffer.concat(chunks) }),
    )
    request.on('error', () => resolve({ kind: 'broken' }))
    request.on('close', () => resolve({ kind: 'broken' }))
  })
}

const EMPTY = Buffer.alloc(0)
