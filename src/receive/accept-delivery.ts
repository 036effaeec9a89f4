import { randomBytes } from 'node:crypto'
import { parse as parseMediaType } from 'content-type'
import { UpshotError } from '../core/errors.ts'
import type { DeliveryFacts, Refusal, Verdict } from '../core/incoming/delivery.ts'
import { activeSecrets, type Endpoint, positionOf } from '../core/incoming/endpoint.ts'
import { matchType } from '../core/incoming/event.ts'
import { planPriorities, planRuns, type Route } from '../core/incoming/route.ts'
import {
  type HeaderLookup,
  SCHEME_PRESETS,
  type SignatureVerdict,
  verifySignature,
} from '../core/incoming/signature.ts'
import type { DeliveryIntake } from '../core/store/deliveries.ts'
import type { Store } from '../core/store/store.ts'
import { pickSigningHeaders } from './pick-signing-headers.ts'
import { readEvent } from './read-event.ts'

/** A request whose bytes are all here. */
export interface RawDelivery {
  id: string
  /** What follows `/hooks/`. */
  path: string
  header: HeaderLookup
  /** All headers as they came, names and values in turn. */
  rawHeaders: readonly string[]
  body: Buffer
  receivedAt: number
  /** One of our own: everything is checked, nothing is saved. */
  isProbe: boolean
}

/** The verdict and what explains it. Given for an accepted one only after the commit. */
export interface Reception {
  verdict: Verdict
  endpointId: string | null
  event: { id: string; type: string } | null
  /** Number of runs that it started. */
  runs: number
  facts: DeliveryFacts
  /**
   * For the sender, of a body that is no event; null when the verdict says all that may be said.
   */
  complaint: UpshotError | null
  /** For a refusal that lasts: when the sender may come again. */
  retryAfterMs?: number
}

export interface AcceptParts {
  store: Pick<Store, 'findEndpoint' | 'saveCapture'>
  intake: DeliveryIntake
  /** Rejects while it is not known what the event would start: then it is not taken. */
  routes: () => readonly Route[] | Promise<readonly Route[]>
}

/** Fits every scheme and is nobody's. */
const DUMMY_SECRET = randomBytes(32).toString('hex')

/**
 * Verifies the bytes, reads the event, plans its runs, and saves all of it in one commit. No author
 * code runs here.
 */
export async function acceptDelivery(
  { store, intake, routes }: AcceptParts,
  delivery: RawDelivery,
): Promise<Reception> {
  const { header, body, receivedAt } = delivery
  const endpoint = await store.findEndpoint(delivery.path)
  // Before anything that depends on the endpoint: a prober must not learn from it whether there is
  // one.
  if (!isJson(header('content-type'))) {
    return refuse('wrong_type', endpoint, { contentType: nameMediaType(header('content-type')) })
  }
  if (endpoint === null || endpoint.status === 'disabled') return refuseBlindly(endpoint, delivery)
  if (endpoint.status === 'learning') return capture(store, endpoint, delivery)

  const signature = verifySignature(endpoint.scheme, activeSecrets(endpoint, receivedAt), delivery, receivedAt)
  if (signature.kind !== 'valid') return refuse(...describeMistrust(signature, endpoint))

  const read = readEvent(body)
  if (read instanceof UpshotError) return { ...refuse('bad_json', endpoint, { reason: read.message }), complaint: read }
  const { id, type, created } = read.event
  const facts = describeTrust(signature, positionOf(endpoint, signature.secret, receivedAt))
  const accepted = { endpointId: endpoint.id, event: { id, type }, facts, complaint: null }
  if (delivery.isProbe) return { verdict: 'accepted', runs: 0, ...accepted }
  const known = await routes()
  const workflows = planFor(endpoint, type, known)
  const receipt = await intake.saveDelivery({
    id: delivery.id,
    endpointId: endpoint.id,
    account: endpoint.account,
    receivedAt,
    event: { id, type, created },
    body: read.text,
    facts,
    workflows,
    priorities: planPriorities(workflows, known),
  })
  return { verdict: receipt.verdict, runs: receipt.runs.length, ...accepted }
}

/**
 * Takes as long over an endpoint that does not exist, or is disabled, as over a forgery for one
 * that works.
 */
function refuseBlindly(endpoint: Endpoint | null, delivery: RawDelivery): Reception {
  verifySignature(endpoint?.scheme ?? SCHEME_PRESETS.hex, [DUMMY_SECRET], delivery, delivery.receivedAt)
  return refuse(endpoint === null ? 'unknown_endpoint' : 'disabled', endpoint, {})
}

/** By then its user has found out the scheme, or sees more captures. */
const LEARNING_RETRY_MS = 60_000

async function capture(
  store: AcceptParts['store'],
  endpoint: Endpoint,
  { id, receivedAt, rawHeaders, body }: RawDelivery,
): Promise<Reception> {
  const headers = pickSigningHeaders(rawHeaders)
  const isKept = await store.saveCapture({ id, endpointId: endpoint.id, receivedAt, headers, body })
  const reason = isKept ? 'captured' : 'too large to capture, or just pinned'
  return { ...refuse('learning', endpoint, { reason }), retryAfterMs: LEARNING_RETRY_MS }
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

/** Without parameters: a sender may have put anything there, its signature too. */
function nameMediaType(contentType = 'none'): string {
  return /^[\w.+-]{1,40}(\/[\w.+-]{1,60})?(?=$|;|\s)/.exec(contentType)?.[0] ?? 'malformed'
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
