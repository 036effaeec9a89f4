import type { IncomingMessage, ServerResponse } from 'node:http'
import { describeError, UpshotError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import type { HeaderLookup } from '../core/incoming/signature.ts'
import type { Publish } from '../core/notices.ts'
import type { Clock } from '../core/time.ts'
import {
  type About,
  type Addressee,
  describeReception,
  type RawDelivery,
  type Reception,
  type ReportedReception,
  refuse,
} from './accept-delivery.ts'
import type { SignatureAlarm } from './checks/signature-alarm.ts'
import type { IntakeLimit, Rejection } from './limits/intake-limit.ts'
import type { Peers, Share } from './limits/peers.ts'
import { TokenBuckets } from './limits/token-buckets.ts'
import type { UploadWatch } from './limits/upload-watch.ts'
import { countHeader } from './plain-http.ts'
import { readBody, UNKNOWN_BODY_BYTES } from './read-body.ts'
import type { RefusalLedger } from './refusal-ledger.ts'
import { respond } from './respond.ts'

interface HandlerParts {
  /** Finds the endpoint or hook that a path names. */
  find: Record<AddressPart, (path: string) => Promise<Addressee>>
  clock: Clock
  publish: Publish
  intakeLimit: IntakeLimit
  peers: Peers
  uploads: UploadWatch
  ledger: RefusalLedger
  alarm: SignatureAlarm
  /** The sender of a probe of our own, once for each; null for any other request. */
  recogniseProbe: (request: IncomingMessage, path: string, now: number) => 'self' | 'command' | null
}

/** The first part of an address: of endpoints, or of the hooks that runs wait at. */
type AddressPart = 'hooks' | 'callbacks'

export interface Address {
  part: AddressPart
  path: string
}

interface Arrival extends Pick<RawDelivery, 'id' | 'receivedAt' | 'isProbe'> {
  address: Address
  request: IncomingMessage
}

/** After a refusal, a shorter rest of the body is read, so that the connection can be reused. */
const SHORT_BODY_BYTES = 65_536

/** Refused deliveries of one endpoint, or of all hooks, whose signature is looked into. */
const LOOK_BACK_RATE = { perSecond: 5, burst: 20 }

/** A body, with the bytes to give back to the share of its address. */
interface ReadBytes {
  body: Buffer
  held: number
  share: Share
}

/** Handles `POST` to endpoints and hooks: a request in, a verdict out. */
export class DeliveryHandler {
  readonly #parts: HandlerParts
  readonly #lookBacks = new TokenBuckets(LOOK_BACK_RATE)

  constructor(parts: HandlerParts) {
    this.#parts = parts
  }

  /** Resolves when the answer is sent and the delivery is reported; never rejects. */
  async handle(request: IncomingMessage, response: ServerResponse, address: Address): Promise<void> {
    const receivedAt = this.#parts.clock.now()
    const id = newId('dlv', receivedAt)
    const { part, path } = address
    const prober = part === 'hooks' ? this.#parts.recogniseProbe(request, path, receivedAt) : null
    const arrival = { id, address, request, receivedAt, isProbe: prober !== null }
    const { reception, describe } = await this.#receive(arrival)
    const isClosing = isUnread(request) || reception.verdict === 'draining'
    const isForBrowser = describe !== undefined && request.headers.accept?.includes('text/html')
    respond(response, reception, { isClosing, ...(isForBrowser && { page: describe(reception) }) })
    if (isClosing) request.socket.destroySoon()
    if (prober === 'self') return
    const told = this.#lookBack(arrival, reception)
    this.#report(arrival, prober === null ? told : asProbe(told))
  }

  /** An error is answered with 503: the sender keeps the delivery and tries again. */
  async #receive(arrival: Arrival): Promise<{ reception: Reception } & Pick<Addressee, 'describe'>> {
    try {
      const { request, address, receivedAt, isProbe } = arrival
      const { intakeLimit, find } = this.#parts
      const rejection = isProbe ? intakeLimit.checkQueue() : intakeLimit.admit(request.socket.remoteAddress, receivedAt)
      if (rejection !== null) return { reception: rejected(rejection) }
      const to = await find[address.part](address.path)
      const limited = isProbe ? null : intakeLimit.admitTo(to.limitKey, receivedAt)
      const reception = limited === null ? await this.#readAndAccept(arrival, to) : rejected(limited, to.about)
      return { reception, ...(to.describe && { describe: to.describe }) }
    } catch (error) {
      this.#parts.publish({ kind: 'fault', where: `delivery ${arrival.id}`, error: describeError(error) })
      return { reception: describeFailure(error) }
    }
  }

  async #readAndAccept(arrival: Arrival, to: Addressee): Promise<Reception> {
    const { intakeLimit, peers, uploads } = this.#parts
    const { share } = peers.of(arrival.request.socket)
    const { about, refusal } = to
    const isKept = refusal === null
    const maxBytes = isKept ? intakeLimit.limits.bodyBytes : UNKNOWN_BODY_BYTES
    const read = await readBody(arrival.request, intakeLimit, { share, uploads, isKept, maxBytes })
    switch (read.kind) {
      case 'read':
        return this.#accept(arrival, to, { ...read, share })
      case 'broken':
        return refuse('incomplete', { contentLength: read.bytes }, about)
      case 'trickling':
        peers.keepOut(arrival.request.socket)
        return refuse('incomplete', { contentLength: read.bytes, reason: 'chunks of a few bytes' }, about)
      case 'consumed':
        return this.#refuseConsumed(arrival, about)
      case 'encoded':
        return refuse('wrong_type', { reason: nameEncoding(read.encoding) }, about)
      case 'too_large':
        return refuse(
          isKept || read.bytes > intakeLimit.limits.bodyBytes ? 'too_large' : refusal,
          { contentLength: read.bytes },
          about,
        )
      case 'no_room':
        return rejected({ verdict: 'overloaded', reason: 'bytes_in_flight' }, about)
      default:
        return read satisfies never
    }
  }

  async #accept(arrival: Arrival, to: Addressee, { body, held, share }: ReadBytes): Promise<Reception> {
    const { intakeLimit } = this.#parts
    // The queue may have filled up while this body was read.
    const full = intakeLimit.checkQueue()
    intakeLimit.enter()
    try {
      if (full?.verdict === 'overloaded') return rejected(full, to.about)
      const { request, address: _, ...rest } = arrival
      return await to.accept({ ...rest, header: headerLookup(request), rawHeaders: request.rawHeaders, body })
    } finally {
      intakeLimit.leave()
      intakeLimit.giveBytes(held, share)
    }
  }

  #refuseConsumed({ id }: Arrival, about: About): Reception {
    const message =
      'Other code in this process has read the body of a delivery, so its signature cannot be verified. ' +
      'Mount no body parser before the receiver.'
    const error = describeError(new UpshotError('internal', message))
    this.#parts.publish({ kind: 'fault', where: `delivery ${id}`, error })
    return refuse('consumed', {}, about)
  }

  /** Adds why its signature does not fit. In a flood, a few deliveries a second are tried. */
  #lookBack({ receivedAt }: Arrival, reception: Reception): Reception {
    const { lookBack, endpointId, facts } = reception
    if (lookBack === undefined || this.#lookBacks.take(endpointId ?? '', receivedAt) > 0) return reception
    return { ...reception, facts: { ...facts, ...lookBack() } }
  }

  #report({ id, receivedAt, request }: Arrival, reception: ReportedReception): void {
    const { clock, publish, ledger, alarm } = this.#parts
    const { endpointId, endpointName, verdict, facts } = reception
    publish(describeReception(id, reception, clock.now() - receivedAt))
    if (verdict !== 'accepted' && verdict !== 'duplicate' && verdict !== 'conflict') {
      ledger.keep({ id, endpointId, receivedAt, verdict, bodyBytes: readContentLength(request), facts })
    }
    const suspicion = alarm.note({ endpointId, verdict, receivedAt })
    if (suspicion !== null) publish({ kind: 'endpoint.suspect', endpointName, ...suspicion })
  }
}

/** As a command's probe stands in ledger and log. */
function asProbe(reception: Reception): ReportedReception {
  return { ...reception, verdict: 'probe', facts: { ...reception.facts, answered: reception.verdict } }
}

/** Whether so much of the request is still to come that closing is better than reading it. */
export function isUnread(request: IncomingMessage): boolean {
  if (request.complete) return false
  const announced = request.headers['content-length']
  return announced === undefined || !(Number(announced) <= SHORT_BODY_BYTES)
}

/** The sender keeps a delivery that failed on our side, and tries again. */
function describeFailure(error: unknown): Reception {
  if (!(error instanceof UpshotError)) return refuse('unavailable', { reason: 'internal' })
  const { reason } = error.details
  return refuse('unavailable', { reason: typeof reason === 'string' ? `database_${reason}` : error.code })
}

/** Null where the header is missing or not a number. */
function readContentLength(request: IncomingMessage): number | null {
  const announced = Number(request.headers['content-length'] ?? Number.NaN)
  return Number.isSafeInteger(announced) ? announced : null
}

function rejected({ verdict, reason, retryAfterMs }: Rejection, about: About = {}): Reception {
  const facts = reason === undefined ? {} : { reason }
  return { ...refuse(verdict, facts, about), ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
}

function nameEncoding(encoding: string): string {
  return /^(gzip|x-gzip|deflate|br|zstd|compress)$/i.test(encoding) ? `encoded as ${encoding}` : 'encoded somehow'
}

/** A header that occurs twice counts as missing: it could be read in two ways. */
function headerLookup({ headers, rawHeaders }: IncomingMessage): HeaderLookup {
  return (name) => {
    const value = headers[name]
    return typeof value === 'string' && countHeader(rawHeaders, name) === 1 ? value : undefined
  }
}
