import type { IncomingMessage } from 'node:http'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Socket } from 'node:net'

/** One request to one address; redirects are not followed. */
export interface HttpRequest {
  method: 'GET' | 'POST' | 'DELETE'
  url: URL
  headers: Record<string, string>
  body?: string
  signal: AbortSignal
  /** Called as soon as there is a connection, new or kept. */
  onConnected: () => void
}

export interface HttpReply {
  status: number
  headers: Headers
  body: AsyncIterator<Uint8Array>
  /** Ends the connection unless the body has been read to its end. */
  discard: () => void
  /**
   * Gives the memory of a chunk back to be read into again; one that is kept instead is lost to the
   * transport.
   */
  release: (bytes: Uint8Array) => void
}

/** Sends a request; resolves when the headers of the reply are there. */
export type Transport = (request: HttpRequest) => Promise<HttpReply>

/**
 * Node's own HTTP client with its global agents. Not `fetch`: the undici 7 in Node 24 ends the
 * process with an assertion that nobody can catch when a server closes the connection while a body
 * waits for its reader (nodejs/undici#5360), and tells nobody when it has connected.
 */
export const nodeTransport: Transport = ({ url, method, headers, signal, body, onConnected }) =>
  new Promise((resolve, reject) => {
    const open = url.protocol === 'https:' ? requestHttps : requestHttp
    const outgoing = open(url, { method, headers, signal })
    // Listens to the end: an abort after the reply is an error event, too.
    outgoing.on('error', reject)
    outgoing.on('socket', (socket) => whenConnected(socket, onConnected))
    outgoing.on('response', (incoming) => resolve(toReply(incoming)))
    outgoing.end(body)
  })

function whenConnected(socket: Socket, onConnected: () => void): void {
  if (!socket.connecting) onConnected()
  else socket.once('encrypted' in socket ? 'secureConnect' : 'connect', onConnected)
}

function toReply(incoming: IncomingMessage): HttpReply {
  const headers = new Headers()
  // `incoming.headers` would keep only the first of two Retry-After.
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

/** A transport over somebody's own `fetch`, which says nothing about its connections. */
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
