import type { IncomingMessage, ServerResponse } from 'node:http'
import { describeError, UpshotError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import type { DeliveryFacts, Refusal } from '../core/incoming/delivery.ts'
import type { HeaderLookup } from '../core/incoming/signature.ts'
import type { Publish } from '../core/notices.ts'
import type { Store } from '../core/store/store.ts'
import type { Clock } from '../core/time.ts'
import { type AcceptParts, acceptDelivery, type RawDelivery, type Reception } from './accept-delivery.ts'
import type { SignatureAlarm } from './checks/signature-alarm.ts'
import type { IntakeLimit, Rejection } from './limits/intake.ts'
import { readBody } from './read-body.ts'
import type { RefusalLedger } from './refusal-ledger.ts'
import { respond } from './respond.ts'

export interface HandlerParts extends AcceptParts {
  store: Pick<Store, 'findEndpoint' | 'saveCapture'>
  clock: Clock
  publish: Publish
  gate: IntakeLimit
  ledger: RefusalLedger
  watch: SignatureAlarm
  /** Whether a request is one of our own probes; true once for each. */
  recogniseProbe: (request: IncomingMessage) => boolean
}

type Arrival = Pick<RawDelivery, 'id' | 'path' | 'receivedAt' | 'isProbe'> & { request: IncomingMessage }

/**
 * What is shorter than this is read to its end after a refusal, so that the connection can be used
 * again.
 */
const SHORT_BODY_BYTES = 65_536

/** Gives the handler of `POST /hooks/<path>`: request in, verdict out. Never rejects. */
export function createDeliveryHandler(parts: HandlerParts) {
  const { store, clock, publish, gate, ledger, watch } = parts

  return async function handleDelivery(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
  ): Promise<void> {
    const receivedAt = clock.now()
    const id = newId('dlv', receivedAt)
    const isProbe = parts.recogniseProbe(request)
    const reception = await receive({ id, path, request, receivedAt, isProbe })
    const isClosing = isUnread(request) || reception.verdict === 'draining'
    respond(response, reception, { isClosing })
    if (isClosing) request.socket.destroySoon()
    if (isProbe) return
    publish(describeReception(id, reception, clock.now() - receivedAt))
    keepRefusal(id, receivedAt, reception, request)
    const { endpointId, verdict } = reception
    const suspicion = watch.note({ endpointId, verdict, receivedAt })
    if (suspicion !== null) publish({ kind: 'endpoint.suspect', ...suspicion })
  }

  /** What is not committed was not received: the sender keeps it and tries again. */
  async function receive(arrival: Arrival): Promise<Reception> {
    try {
      const rejection = await turnAway(arrival)
      return rejection === null ? await readAndAccept(arrival) : rejected(rejection)
    } catch (error) {
      publish({ kind: 'fault', where: `delivery ${arrival.id}`, error: describeError(error) })
      return refusal('overloaded', { reason: error instanceof UpshotError ? error.code : 'internal' })
    }
  }

  async function turnAway({ request, path, receivedAt, isProbe }: Arrival): Promise<Rejection | null> {
    if (isProbe) return gate.checkQueue()
    const rejection = gate.admit(request.socket.remoteAddress, receivedAt)
    if (rejection !== null) return rejection
    return gate.admitTo((await store.findEndpoint(path))?.id, receivedAt)
  }

  async function readAndAccept(arrival: Arrival): Promise<Reception> {
    const read = await readBody(arrival.request, gate)
    switch (read.kind) {
      case 'read':
        return accept(arrival, read.body)
      case 'broken':
        return refusal('incomplete', { contentLength: read.bytes })
      case 'consumed':
        return describeConsumed(arrival)
      case 'encoded':
        return refusal('wrong_type', { reason: nameEncoding(read.encoding) })
      case 'too_large':
        return refusal('too_large', { contentLength: read.bytes })
      case 'no_room':
        return rejected({ verdict: 'overloaded', reason: 'bytes_in_flight' })
      default:
        return read satisfies never
    }
  }

  async function accept({ request, ...arrival }: Arrival, body: Buffer): Promise<Reception> {
    // Others may have filled the queue while this body was on its way.
    const full = gate.checkQueue()
    gate.enter()
    try {
      if (full?.verdict === 'overloaded') return rejected(full)
      const { rawHeaders } = request
      return await acceptDelivery(parts, { ...arrival, header: headerLookup(request), rawHeaders, body })
    } finally {
      gate.leave()
      gate.giveBytes(body.length)
    }
  }

  function describeConsumed({ id }: Arrival): Reception {
    const message =
      'Somebody else in this process has read the body of a delivery, so its signature cannot be verified. Mount no body parser before the receiver.'
    publish({
      kind: 'fault',
      where: `delivery ${id}`,
      error: describeError(new UpshotError('internal', message)),
    })
    return refusal('consumed')
  }

  function keepRefusal(id: string, receivedAt: number, reception: Reception, request: IncomingMessage): void {
    const { verdict, endpointId, facts } = reception
    if (verdict === 'accepted' || verdict === 'duplicate' || verdict === 'conflict') return
    const announced = Number(request.headers['content-length'] ?? Number.NaN)
    const bodyBytes = Number.isSafeInteger(announced) ? announced : null
    ledger.keep({ id, endpointId, receivedAt, verdict, bodyBytes, facts })
  }
}

/** Whether so much of the request is still to come that hanging up is better than reading it. */
function isUnread(request: IncomingMessage): boolean {
  if (request.complete) return false
  const announced = request.headers['content-length']
  return announced === undefined || !(Number(announced) <= SHORT_BODY_BYTES)
}

function rejected({ verdict, reason, retryAfterMs }: Rejection): Reception {
  const facts = reason === undefined ? {} : { reason }
  return { ...refusal(verdict, facts), ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
}

function nameEncoding(encoding: string): string {
  return /^(gzip|x-gzip|deflate|br|zstd|compress)$/i.test(encoding) ? `encoded as ${encoding}` : 'encoded somehow'
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
