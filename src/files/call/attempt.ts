import { type FilesError, ProtocolError } from '../errors.ts'
import { exchange, type Outgoing } from '../http/exchange.ts'
import { readText } from '../http/read-body.ts'
import { type HttpReply, toTransportError } from '../http/transport.ts'
import type { Priority } from '../limit/limiter-store.ts'
import { type Pagination, parseReply } from '../reply/parse-reply.ts'
import { describeTypes, requestIdOf, toReplyError, typesOf } from '../reply/reply-error.ts'
import { parseCount } from '../reply/wait-hint.ts'
import { redactSecret, type Secret } from '../secret.ts'
import { type Call, factsOf, limitTime } from './call.ts'
import type { ClientParts } from './client-parts.ts'

export interface ApiRequest {
  method: Outgoing['method']
  url: URL
  /** Sent as JSON. */
  body?: Record<string, unknown>
  /** True: after a failure, a 429 as well, the caller has to look before it is sent again. */
  once?: boolean
  /** Order among those that wait for the limit. Default: that of the call. */
  priority?: Priority
  /** `look` takes the start of its `act` as well, which then goes at once. Default: neither. */
  pair?: 'look' | 'act' | undefined
  /** Called when the limit lets it go, before it is sent; an error that it throws ends the call. */
  beforeSend?: (() => Promise<void>) | undefined
}

export interface Reply {
  status: number
  /** True where the body itself says that it went well. */
  hasFlag: boolean
  data: unknown
  pagination: Pagination | null
}

interface Attempted {
  outcome: Reply | FilesError
  /** HTTP status; null when no reply came. */
  status: number | null
  /** Requests per minute from `X-RateLimit-Limit`; null when it was not sent. */
  limit: number | null
}

/**
 * Sends a request once, within the attempt's time. A failure is returned, not thrown: the caller
 * decides what follows.
 */
export async function attempt(
  parts: ClientParts,
  call: Call,
  { request, key }: { request: ApiRequest; key: Secret },
): Promise<Attempted> {
  const { settings } = parts
  const facts = factsOf(call)
  const { signal, done } = limitTime(parts, call, settings.attemptMs)
  let status: number | null = null
  try {
    const response = await exchange(settings, toOutgoing(parts, call, { request, key }), { signal, facts })
    status = response.status
    const text = await readText(response, { clock: settings.clock, stallMs: settings.stallMs, facts })
    const limit = parseCount(response.headers, 'x-ratelimit-limit')
    return { outcome: interpret(parts, call, { response, text, key }), status, limit }
  } catch (error) {
    return {
      outcome: toTransportError(error, { signal, facts: { ...facts, status }, secret: key }),
      status,
      limit: null,
    }
  } finally {
    done()
  }
}

function toOutgoing(
  { settings }: ClientParts,
  { caller }: Call,
  { request, key }: { request: ApiRequest; key: Secret },
): Outgoing {
  const trace = caller?.traceparent === undefined ? {} : { traceparent: caller.traceparent }
  const contentType = request.body === undefined ? {} : { 'content-type': 'application/json' }
  return {
    method: request.method,
    url: request.url,
    // A cache on the way would show an entry as it was: a delete relies on its look.
    headers: { accept: 'application/json', 'cache-control': 'no-cache', ...contentType, ...trace },
    authorization: `Bearer ${key.reveal()}`,
    transport: settings.transport,
    ...(request.body && { body: JSON.stringify(request.body) }),
  }
}

function interpret(
  parts: ClientParts,
  call: Call,
  { response, text, key }: { response: HttpReply; text: string; key: Secret },
): Reply | FilesError {
  const { status, headers } = response
  const parsed = parseReply(status, text)
  if (parsed.kind === 'ok') {
    if (!parsed.hasFlag && parsed.data !== null) {
      parts.log({ kind: 'warning', service: call.service, message: 'A reply carries neither "success" nor "status".' })
    }
    return { status, hasFlag: parsed.hasFlag, data: parsed.data, pagination: parsed.pagination }
  }
  if (status >= 200 && status < 300 && parsed.kind === 'unreadable') {
    const types = typesOf(headers)
    const facts = { ...factsOf(call), ...types, status, requestId: requestIdOf(headers), retryable: true }
    const why = 'it is not a JSON object, has a key twice, or has neither data nor an error.'
    return new ProtocolError(`The reply${describeTypes(types)} cannot be read: ${why}`, facts)
  }
  const safe = redactSecret(parsed, key)
  return toReplyError({ status, headers, parsed: safe }, { facts: factsOf(call), now: parts.settings.clock.now() })
}
