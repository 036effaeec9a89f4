import type { IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Socket } from 'node:net'
import { AbortedError, ConnectionError, type ErrorFacts, FilesError } from '../errors.ts'
import { redactSecret, type Secret } from '../secret.ts'

// Imported, this module would load all of undici. See decision 67.
const { request: requestHttp } = process.getBuiltinModule('node:http')

/** One request to one address. Redirects are not followed. */
export interface HttpRequest {
  method: 'GET' | 'POST' | 'DELETE'
  url: URL
  headers: Record<string, string>
  body?: string
  signal: AbortSignal
  /** Called once there is a connection, new or kept alive. */
  onConnected: () => void
}

/** A reply whose body has not been read. */
export interface HttpReply {
  status: number
  headers: Headers
  body: AsyncIterator<Uint8Array>
  /** Closes the connection, unless the body was read to its end. */
  discard: () => void
  /** Returns a chunk's memory for another read. A chunk that is kept is not returned. */
  release: (bytes: Uint8Array) => void
}

/** Sends a request; resolves at the headers of the reply. */
export type Transport = (request: HttpRequest) => Promise<HttpReply>

/**
 * Node's HTTP client with its global agents. `fetch` can end the process (nodejs/undici#5360) and
 * does not tell when it has connected: see decision 24.
 */
export const nodeTransport: Transport = ({ url, method, headers, signal, body, onConnected }) =>
  new Promise((resolve, reject) => {
    const open = url.protocol === 'https:' ? requestHttps : requestHttp
    const outgoing = open(url, { method, headers, signal })
    // An abort after the reply is also an error event.
    outgoing.on('error', reject)
    outgoing.on('socket', (socket) => whenConnected(socket, onConnected))
    outgoing.on('response', (incoming) => resolve(toReply(incoming)))
    // After a reply of 101, Node closes the connection and tells no error.
    outgoing.on('close', () => reject(new Error('The server closed the connection without a reply.')))
    outgoing.end(body)
  })

function whenConnected(socket: Socket, onConnected: () => void): void {
  if (!socket.connecting) onConnected()
  else socket.once('encrypted' in socket ? 'secureConnect' : 'connect', onConnected)
}

function toReply(incoming: IncomingMessage): HttpReply {
  const headers = new Headers()
  // `incoming.headers` keeps only the first of two Retry-After.
  for (let index = 0; index + 1 < incoming.rawHeaders.length; index += 2) {
    headers.append(incoming.rawHeaders[index] ?? '', incoming.rawHeaders[index + 1] ?? '')
  }
  incoming.on('error', () => {})
  return {
    status: incoming.statusCode ?? 0,
    headers,
    body: incoming[Symbol.asyncIterator](),
    discard: () => void (incoming.readableEnded || incoming.destroy()),
    release: () => {},
  }
}

/** A transport over a given `fetch`, which tells nothing about its connections. */
export function fetchTransport(fetch: typeof globalThis.fetch): Transport {
  return async ({ url, method, headers, signal, body, onConnected }) => {
    onConnected()
    const init = { method, headers, signal, redirect: 'manual', ...(body === undefined ? {} : { body }) } as const
    const response = await fetch(url.href, init)
    const stream: ReadableStream<Uint8Array> = response.body ?? new ReadableStream({ start: (body) => body.close() })
    const reader = stream.getReader()
    return {
      status: response.status,
      headers: response.headers,
      body: { next: async () => (await reader.read()) as IteratorResult<Uint8Array> },
      discard: () => void reader.cancel().catch(() => {}),
      release: () => {},
    }
  }
}

/**
 * Turns a failure of sockets and streams, which may throw anything, into an error of this client.
 */
export function toTransportError(
  error: unknown,
  { signal, facts, secret = null }: { signal: AbortSignal; facts: ErrorFacts; secret?: Secret | null },
): FilesError {
  const thrown = signal.aborted ? signal.reason : error
  if (thrown instanceof FilesError) return thrown
  if (signal.aborted) return new AbortedError('The call was aborted.', facts)
  const cause = plainCause(error, secret)
  return new ConnectionError('The connection to the server failed or broke off.', { ...facts, cause })
}

/** The system's message only: the original error also holds requests, sockets and addresses. */
function plainCause(error: unknown, secret: Secret | null): Error {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = inner instanceof Error && 'code' in inner && typeof inner.code === 'string' ? `${inner.code}: ` : ''
  return new Error(redactSecret(`${code}${inner instanceof Error ? inner.message : String(inner)}`, secret))
}
