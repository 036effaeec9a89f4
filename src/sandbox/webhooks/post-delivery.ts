import { request as httpsRequest } from 'node:https'
import { signBody } from '../../core/incoming/signature.ts'
import type { Webhook } from './webhooks.ts'

// Imported, this module would load all of undici. See decision 67.
const { request: httpRequest } = process.getBuiltinModule('node:http')

export interface PostResult {
  /** HTTP status; null without a complete reply. */
  status: number | null
  /** Why no complete reply came; null otherwise. */
  error: string | null
  durationMs: number
}

/**
 * Sends a delivery on a new connection and waits for the whole reply, up to `timeoutMs`. Follows no
 * redirects and never throws.
 */
export function postDelivery(
  delivery: { url: string; headers: Record<string, string>; body: Uint8Array },
  options: { timeoutMs: number; signal: AbortSignal },
): Promise<PostResult> {
  const startedAt = performance.now()
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(options.timeoutMs)])
  const request = delivery.url.startsWith('https:') ? httpsRequest : httpRequest
  return new Promise((resolve) => {
    const end = (status: number | null, error: string | null) =>
      resolve({ status, error, durationMs: Math.round(performance.now() - startedAt) })
    const fail = (error: Error) => end(null, describe(error, options))
    const outgoing = request(delivery.url, {
      method: 'POST',
      agent: false,
      signal,
      headers: { ...delivery.headers, 'Content-Length': String(delivery.body.byteLength) },
    })
    outgoing.on('error', fail)
    outgoing.on('response', (reply) => {
      reply.on('error', fail)
      reply.on('end', () => end(reply.statusCode ?? null, null))
      reply.resume()
    })
    outgoing.end(delivery.body)
  })
}

function describe(error: Error, options: { timeoutMs: number; signal: AbortSignal }): string {
  if (options.signal.aborted) return 'the sandbox stopped'
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return `no reply within ${options.timeoutMs} ms`
  return 'code' in error ? String(error.code) : error.message
}

/** Age of a stale signature: more than any receiver tolerates. */
export const STALE_BY_MS = 3_600_000
/** A secret of no webhook that decodes in every scheme. */
export const WRONG_SECRET = 'deadbeefdeadbeefdeadbeefdeadbeef'

/**
 * The signature headers of an attempt. Schemes with room for several signatures get one per secret,
 * others one of the first.
 */
export function signDelivery(webhook: Webhook, id: string, body: Uint8Array, now: number): Record<string, string> {
  const { scheme, secrets } = webhook
  const [first = {}, ...more] = secrets.map((secret) => signBody(scheme, secret, { id, body }, now))
  const separator = { versions: ' ', pairs: ',', plain: null, prefix: null }[scheme.grammar]
  if (separator === null) return first
  const signatures = more.map((headers) => headers[scheme.header]?.replace(/^t=\d+,/, '') ?? '')
  return { ...first, [scheme.header]: [first[scheme.header], ...signatures].join(separator) }
}
