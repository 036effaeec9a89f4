import { isLoopback } from '../../core/service/account.ts'
import type { Clock } from '../../core/time.ts'
import { ConnectionError, type ErrorFacts, ProtocolError } from '../errors.ts'
import { isSafeOrigin } from './request-url.ts'
import type { HttpReply, HttpRequest, Transport } from './transport.ts'

const MAX_REDIRECTS = 5
const REDIRECTS = new Set([301, 302, 303, 307, 308])

/**
 * One HTTP request. `authorization` goes to the URL's own origin and never follows a redirect
 * elsewhere.
 */
export interface Outgoing {
  method: 'GET' | 'POST' | 'DELETE'
  url: URL
  headers: Record<string, string>
  authorization?: string
  body?: string
  /** Hosts that may be asked; null or absent allows any. */
  hosts?: readonly string[] | null
  transport: Transport
}

interface ExchangeSettings {
  clock: Clock
  /** The longest wait for a connection, in milliseconds. */
  connectMs: number
  /** Address of the API. Only that of this machine may lead to other addresses of this machine. */
  baseUrl: string
}

/** A reply, and the host and port that sent it, after all redirects. */
export type HostReply = HttpReply & { host: string }

/** Sends a request and follows redirects of a GET; resolves at the headers of the last reply. */
export async function exchange(
  settings: ExchangeSettings,
  outgoing: Outgoing,
  { signal, facts }: { signal: AbortSignal; facts: ErrorFacts },
): Promise<HostReply> {
  let url = outgoing.url
  let isAtHome = true
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    requireAllowed(url, outgoing, { settings, facts })
    const request = withUrl(outgoing, url, isAtHome)
    const reply = await sendOnce(settings, request, { transport: outgoing.transport, signal, facts })
    const location = REDIRECTS.has(reply.status) ? reply.headers.get('location') : null
    if (location === null) return Object.assign(reply, { host: url.host })
    reply.discard()
    // A redirected DELETE could remove another entry.
    if (outgoing.method !== 'GET' || !URL.canParse(location, url.href)) break
    url = new URL(location, url)
    // Never true again: a foreign host that redirects back here chose the address.
    isAtHome &&= url.origin === outgoing.url.origin
  }
  throw new ProtocolError('The server redirects too often, or in a way that is not allowed.', facts)
}

function withUrl({ method, headers, authorization, body }: Outgoing, url: URL, isAtHome: boolean) {
  const credentials = isAtHome && authorization !== undefined ? { authorization } : {}
  return { method, url, headers: { ...headers, ...credentials }, ...(body === undefined ? {} : { body }) }
}

async function sendOnce(
  { clock, connectMs }: ExchangeSettings,
  request: Omit<HttpRequest, 'signal' | 'onConnected'>,
  { transport, signal, facts }: { transport: Transport; signal: AbortSignal; facts: ErrorFacts },
): Promise<HttpReply> {
  const connecting = new AbortController()
  const onConnected = clock.at(clock.now() + connectMs, () =>
    connecting.abort(new ConnectionError(`No connection within ${connectMs} ms.`, facts)),
  )
  try {
    return await transport({ ...request, signal: AbortSignal.any([signal, connecting.signal]), onConnected })
  } catch (error) {
    throw connecting.signal.aborted ? connecting.signal.reason : error
  } finally {
    onConnected()
  }
}

function requireAllowed(
  url: URL,
  { hosts }: Outgoing,
  { settings: { baseUrl }, facts }: { settings: ExchangeSettings; facts: ErrorFacts },
): void {
  const isNamed = hosts?.includes(url.hostname) || hosts?.includes(url.host)
  if (!isNamed && isLoopback(url.hostname) && !isLoopback(new URL(baseUrl).hostname)) {
    throw new ProtocolError('The server points to an address of this machine.', facts)
  }
  const isListed = !hosts || isNamed
  if (isSafeOrigin(url) && isListed) return
  throw new ProtocolError(
    isListed
      ? 'The server points to an address without https. Bytes and keys travel over https only.'
      : 'The server points to a host that `downloadHosts` does not list.',
    facts,
  )
}
