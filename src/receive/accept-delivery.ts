import { isUtf8 } from 'node:buffer'
import { parse as parseMediaType } from 'content-type'
import { parse as parseJson } from 'secure-json-parse'
import type { DeliveryFacts, Refusal, Verdict } from '../core/delivery.ts'
import { activeSecrets, type Endpoint, positionOf } from '../core/endpoint.ts'
import { UpshotError } from '../core/errors.ts'
import { matchType, parseEvent, type ServiceEvent } from '../core/event.ts'
import { planRuns, type Route } from '../core/route.ts'
import { type HeaderLookup, type SignatureVerdict, verifySignature } from '../core/signature.ts'
import type { Store } from '../core/store.ts'

/** A request whose bytes are all here. */
export interface RawDelivery {
  id: string
  /** What follows `/hooks/`. */
  path: string
  header: HeaderLookup
  body: Buffer
  receivedAt: number
}

/** The verdict and what explains it. Given for an accepted one only after the commit. */
export interface Reception {
  verdict: Verdict
  endpointId: string | null
  event: { id: string; type: string } | null
  /** Number of runs that it started. */
  runs: number
  facts: DeliveryFacts
  /** For the sender, of a body that is no event; null when the verdict says all that may be said. */
  complaint: UpshotError | null
}

export interface AcceptParts {
  store: Pick<Store, 'findEndpoint' | 'saveDelivery'>
  routes: () => readonly Route[]
}

/** Verifies the bytes, reads the event, plans its runs, and saves all of it in one commit. No author code runs here. */
export async function acceptDelivery({ store, routes }: AcceptParts, delivery: RawDelivery): Promise<Reception> {
  const { header, body, receivedAt } = delivery
  const endpoint = await store.findEndpoint(delivery.path)
  if (!endpoint) return refuse('unknown_endpoint', null, {})
  if (endpoint.status !== 'active') return refuse('disabled', endpoint, {})
  if (!isJson(header('content-type'))) {
    return refuse('wrong_type', endpoint, { contentType: header('content-type')?.slice(0, 100) ?? 'none' })
  }

  const signature = verifySignature(endpoint.scheme, activeSecrets(endpoint, receivedAt), delivery, receivedAt)
  if (signature.kind !== 'valid') return refuse(...describeMistrust(signature, endpoint))

  const read = readEvent(body)
  if (read instanceof UpshotError) return { ...refuse('bad_json', endpoint, { reason: read.message }), complaint: read }
  const { id, type, created } = read.event
  const facts = describeTrust(signature, positionOf(endpoint, signature.secret, receivedAt))
  const receipt = await store.saveDelivery({
    id: delivery.id,
    endpointId: endpoint.id,
    account: endpoint.account,
    receivedAt,
    event: { id, type, created },
    body: read.text,
    facts,
    workflows: planFor(endpoint, type, routes()),
  })
  return {
    verdict: receipt.verdict,
    endpointId: endpoint.id,
    event: { id, type },
    runs: receipt.runs.length,
    facts,
    complaint: null,
  }
}

function planFor(endpoint: Endpoint, type: string, routes: readonly Route[]): string[] {
  return endpoint.events.some((pattern) => matchType(pattern, type)) ? planRuns(type, routes) : []
}

function isJson(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true
  try {
    return parseMediaType(contentType ?? '').type === 'application/json'
  } catch {
    return false
  }
}

function readEvent(body: Buffer): { text: string; event: ServiceEvent } | UpshotError {
  if (!isUtf8(body)) return new UpshotError('invalid_event', 'The body is not UTF-8.')
  const text = body.toString('utf8')
  try {
    return { text, event: parseEvent(parseJson(text, { protoAction: 'error', constructorAction: 'error' })) }
  } catch (error) {
    if (error instanceof UpshotError) return error
    return new UpshotError('invalid_event', 'The body is not JSON.')
  }
}

function refuse(verdict: Refusal, endpoint: Endpoint | null, facts: DeliveryFacts): Reception {
  return { verdict, endpointId: endpoint?.id ?? null, event: null, runs: 0, facts, complaint: null }
}

function describeMistrust(
  signature: Exclude<SignatureVerdict, { kind: 'valid' }>,
  endpoint: Endpoint,
): [Refusal, Endpoint, DeliveryFacts] {
  if (signature.kind === 'stale') return ['stale', endpoint, { skewSeconds: signature.skewSeconds }]
  const header = signature.header === undefined ? {} : { header: signature.header }
  return ['bad_signature', endpoint, { reason: signature.reason, ...header }]
}

function describeTrust({ skewSeconds }: Extract<SignatureVerdict, { kind: 'valid' }>, secret: number): DeliveryFacts {
  return skewSeconds === null ? { secret } : { secret, skewSeconds }
}
