import type { IncomingMessage, ServerResponse } from 'node:http'
import type { DeliveryFacts, Refusal } from '../core/delivery.ts'
import { describeError, UpshotError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import type { Publish } from '../core/notices.ts'
import type { HeaderLookup } from '../core/signature.ts'
import type { Store } from '../core/store.ts'
import type { Clock } from '../core/time.ts'
import { type AcceptParts, acceptDelivery, type Reception } from './accept-delivery.ts'
import { readBody } from './read-body.ts'
import { respond } from './respond.ts'

export interface HandlerParts extends AcceptParts {
  store: Pick<Store, 'findEndpoint' | 'saveDelivery' | 'saveRefusal'>
  clock: Clock
  publish: Publish
  limits: ReceiveLimits
  isDraining: () => boolean
}

export interface ReceiveLimits {
  /** Largest body. */
  bodyBytes: number
  /** Deliveries between their first byte and their commit; one more is answered 503. */
  inFlight: number
}

export const DEFAULT_LIMITS: ReceiveLimits = { bodyBytes: 1_048_576, inFlight: 1_000 }

/** Ledger rows of refusals that wait for their commit; in a flood the rest leave a notice only. */
const MOST_REFUSALS_WAITING = 100

/** Gives the handler of `POST /hooks/<path>`: request in, verdict out. */
export function createDeliveryHandler(parts: HandlerParts) {
  const { store, clock, publish, limits, isDraining } = parts
  let inFlight = 0
  let refusalsWaiting = 0

  return async function handleDelivery(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
  ): Promise<void> {
    const receivedAt = clock.now()
    const id = newId('dlv', receivedAt)
    inFlight += 1
    try {
      const reception = await receive({ id, path, request, receivedAt })
      if (reception === 'gone') return
      respond(response, reception)
      if (reception.verdict === 'too_large') request.socket.destroySoon()
      publish(describeReception(id, reception, clock.now() - receivedAt))
      keepRefusal(id, receivedAt, reception, request)
    } finally {
      inFlight -= 1
    }
  }

  async function receive(at: {
    id: string
    path: string
    request: IncomingMessage
    receivedAt: number
  }): Promise<Reception | 'gone'> {
    if (isDraining()) return refusal('draining')
    if (inFlight > limits.inFlight) return refusal('overloaded')
    const read = await readBody(at.request, limits.bodyBytes)
    switch (read.kind) {
      case 'broken':
        return 'gone'
      case 'not_raw':
        return refusal('wrong_type', { reason: read.reason })
      case 'too_large':
        return refusal('too_large', { contentLength: read.bytes })
      case 'read':
        return acceptOrFail({ ...at, body: read.body })
      default:
        return read satisfies never
    }
  }

  /** What is not committed was not received: the sender keeps it and tries again. */
  async function acceptOrFail(at: {
    id: string
    path: string
    request: IncomingMessage
    receivedAt: number
    body: Buffer
  }) {
    try {
      return await acceptDelivery(parts, { ...at, header: headerLookup(at.request) })
    } catch (error) {
      publish({ kind: 'fault', where: `delivery ${at.id}`, error: describeError(error) })
      return refusal('overloaded', { reason: error instanceof UpshotError ? error.code : 'internal' })
    }
  }

  function keepRefusal(id: string, receivedAt: number, reception: Reception, request: IncomingMessage): void {
    const { verdict, endpointId, facts } = reception
    if (verdict === 'accepted' || verdict === 'duplicate' || verdict === 'conflict') return
    if (refusalsWaiting >= MOST_REFUSALS_WAITING) return
    refusalsWaiting += 1
    const bodyBytes = Number(request.headers['content-length'] ?? Number.NaN)
    store
      .saveRefusal({
        id,
        endpointId,
        receivedAt,
        verdict,
        bodyBytes: Number.isFinite(bodyBytes) ? bodyBytes : null,
        facts,
      })
      .catch((error: unknown) => publish({ kind: 'fault', where: 'the delivery ledger', error: describeError(error) }))
      .finally(() => {
        refusalsWaiting -= 1
      })
  }
}

function refusal(verdict: Refusal, facts: DeliveryFacts = {}): Reception {
  return { verdict, endpointId: null, event: null, runs: 0, facts, complaint: null }
}

function describeReception(id: string, reception: Reception, ms: number) {
  const { verdict, endpointId, event, runs, facts } = reception
  return {
    kind: 'delivery.received',
    delivery: id,
    endpoint: endpointId,
    verdict,
    event: event?.id ?? null,
    type: event?.type ?? null,
    runs,
    facts,
    ms,
  } as const
}

/** A header that came twice counts as missing: two values would mean two readings. */
function headerLookup({ headers, rawHeaders }: IncomingMessage): HeaderLookup {
  return (name) => {
    const value = headers[name]
    return typeof value === 'string' && countHeader(rawHeaders, name) === 1 ? value : undefined
  }
}

/** `rawHeaders` holds names and values in turn. */
function countHeader(rawHeaders: readonly string[], name: string): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const raw = rawHeaders[at] ?? ''
    if (raw.length === name.length && raw.toLowerCase() === name) count += 1
  }
  return count
}
