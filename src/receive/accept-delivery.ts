import { randomBytes } from 'node:crypto'
import { parse as parseMediaType } from 'content-type'
import { UpshotError } from '../core/errors.ts'
import type { Answered, DeliveryFacts, Refusal, Verdict } from '../core/incoming/delivery.ts'
import { activeSecrets, type Endpoint, positionOf, retiredSecrets, wantsType } from '../core/incoming/endpoint.ts'
import { OWN_TYPES, subjectOf } from '../core/incoming/event.ts'
import { planPriorities, planRuns, type Route } from '../core/incoming/route.ts'
import { findUnsafeNumber } from '../core/incoming/scan-json.ts'
import {
  type HeaderLookup,
  SCHEME_PRESETS,
  type SignatureScheme,
  type SignatureVerdict,
  verifySignature,
} from '../core/incoming/signature.ts'
import type { DeliveryIntake, Store } from '../core/store/store.ts'
import { isoTime } from '../core/time.ts'
import { readEvent } from './read-event.ts'

/** A request that has been read completely. */
export interface RawDelivery {
  id: string
  header: HeaderLookup
  /** All headers as they came: names and values alternate. */
  rawHeaders: readonly string[]
  body: Buffer
  receivedAt: number
  /** Our own: it is checked like any other and not saved. */
  isProbe: boolean
}

/** The verdict on a delivery, with its reasons. An accepted delivery is committed already. */
export interface Reception {
  verdict: Answered
  endpointId: string | null
  endpointName: string | null
  /** `subject`: the path that the event is about; null where it names none. */
  event: { id: string; type: string; account: string; subject: string | null } | null
  runs: number
  /** The workflows of those runs. */
  workflows: readonly string[]
  facts: DeliveryFacts
  /** The reason for the sender of a body that is not an event; null for other verdicts. */
  complaint: UpshotError | null
  /** When the sender may try again; default 2 s for every 503. */
  retryAfterMs?: number
  /**
   * Looks for the cause of a signature that does not fit, such as a retired secret; null: not
   * found. Call it after the answer, whose time would tell of what was found.
   */
  lookBack?: () => DeliveryFacts | null
}

/** The name and facts of the endpoint or hook of a delivery; none where the request names none. */
export type About = Partial<Pick<Reception, 'endpointId' | 'endpointName' | 'facts'>>

/** The endpoint or hook that a request names, and how its bytes are judged. */
export interface Addressee {
  about: About
  /** Names its rate limit. Undefined where it is unknown: all of those share one. */
  limitKey: string | undefined
  /** The refusal of any body, which is read and dropped; null: a body is kept. */
  refusal: 'unknown_endpoint' | 'disabled' | 'unknown_hook' | null
  /** Judges a request that was read whole. An accepted one is committed. */
  accept(delivery: RawDelivery): Promise<Reception>
  /** The answer as a page, for a browser. Absent: every answer is JSON. */
  describe?(reception: Reception): string
}

/** An endpoint as it was at a version of the set-up. */
export interface FoundEndpoint {
  /** Null: no endpoint has this path. */
  endpoint: Endpoint | null
  /** The version of endpoints and routes, read before the endpoint. */
  setup: number
}

export interface AcceptParts {
  store: Pick<Store, 'saveCapture' | 'startLeftOut'>
  intake: DeliveryIntake
  /**
   * Those of a version of the set-up, or later. Rejects while no process has written its workflows:
   * the delivery is then refused.
   */
  routes: (setup: number) => readonly Route[] | Promise<readonly Route[]>
  /** How far our clock was set forward, in milliseconds. Default: not at all. */
  clockJump?: () => number
}

/** Fits every scheme and belongs to no endpoint. */
const DUMMY_SECRET = randomBytes(32).toString('hex')

/**
 * Verifies the signature, reads the event, plans its runs, and saves all of them in one commit. No
 * author code runs here. Rejects with `stale_plan` when endpoints or routes have changed meanwhile.
 */
export async function acceptDelivery(
  { store, intake, routes, clockJump = () => 0 }: AcceptParts,
  { endpoint, setup }: FoundEndpoint,
  delivery: RawDelivery,
): Promise<Reception> {
  const { header, body, receivedAt } = delivery
  // Checked before the endpoint, so that the answer does not tell whether the endpoint exists.
  if (!isJson(header('content-type'))) {
    return refuse('wrong_type', { contentType: nameMediaType(header('content-type')) }, nameEndpoint(endpoint))
  }
  if (endpoint === null || endpoint.status === 'disabled') return refuseBlindly(endpoint, delivery)
  if (endpoint.status === 'learning') return capture(store, endpoint, delivery)

  const signature = verifySignature(endpoint.scheme, activeSecrets(endpoint, receivedAt), delivery, receivedAt)
  if (signature.kind !== 'valid') return distrust(signature, endpoint, delivery, clockJump())

  const read = readEvent(body)
  if (read instanceof UpshotError)
    return { ...refuse('bad_json', { reason: describeFault(read) }, nameEndpoint(endpoint)), complaint: read }
  const { id, type, created } = read.event
  const secret = positionOf(endpoint, signature.secret, receivedAt)
  const trust = { ...describeTrust(signature, secret), ...readTraceparent(header('traceparent')) }
  const event = { id, type, account: endpoint.account, subject: subjectOf(read.event) }
  const accepted = { ...nameEndpoint(endpoint), event, facts: trust, complaint: null }
  if (delivery.isProbe) return { verdict: 'accepted', runs: 0, workflows: [], ...accepted }
  const known = await routes(setup)
  const isWanted = wantsType(endpoint, type)
  const workflows = isWanted ? planRuns(type, known) : []
  const isUnmatched = isWanted && workflows.length === 0 && !type.startsWith(OWN_TYPES)
  const unsafeNumber = findUnsafeNumber(read.event, read.text)
  const mark = isWanted ? (isUnmatched ? { unmatched: true as const } : {}) : { leftOut: true as const }
  const plain = { ...trust, ...mark }
  const facts = unsafeNumber === null ? plain : { ...plain, unsafeNumber }
  const receipt = await intake.saveDelivery({
    id: delivery.id,
    endpointId: endpoint.id,
    account: endpoint.account,
    receivedAt,
    event: { id, type, created },
    body: read.text,
    facts,
    setup,
    workflows,
    priorities: planPriorities(workflows, known),
  })
  const isLate = isWanted && receipt.isLeftOut === true
  const runs = isLate ? await store.startLeftOut(event, workflows, receivedAt) : receipt.runs.length
  return { verdict: receipt.verdict, runs, workflows: runs === 0 ? [] : workflows, ...accepted, facts }
}

/** Only in the form of version 0: anything else is no address of a span. */
function readTraceparent(header: string | undefined): { traceparent?: string } {
  const isFit = header !== undefined && /^00-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/.test(header)
  return isFit ? { traceparent: header } : {}
}

/** Takes as long for an unknown or disabled endpoint as for a forged delivery to an active one. */
function refuseBlindly(endpoint: Endpoint | null, delivery: RawDelivery): Reception {
  verifySignature(endpoint?.scheme ?? SCHEME_PRESETS.hex, [DUMMY_SECRET], delivery, delivery.receivedAt)
  return refuse(endpoint === null ? 'unknown_endpoint' : 'disabled', {}, nameEndpoint(endpoint))
}

/** How long the sender waits before it tries an endpoint again that is still learning. */
const LEARNING_RETRY_MS = 60_000

async function capture(
  store: AcceptParts['store'],
  endpoint: Endpoint,
  { id, receivedAt, rawHeaders, body }: RawDelivery,
): Promise<Reception> {
  const headers = pickSigningHeaders(rawHeaders)
  const isKept = await store.saveCapture({ id, endpointId: endpoint.id, receivedAt, headers, body })
  const reason = isKept ? 'captured' : 'too large to capture, or the endpoint does not learn any more'
  return { ...refuse('learning', { reason }, nameEndpoint(endpoint)), retryAfterMs: LEARNING_RETRY_MS }
}

/** The message, and the first faulty field: the ledger keeps no body that would show it. */
function describeFault({ message, details }: UpshotError): string {
  const [first] = Array.isArray(details.faults) ? details.faults : []
  return first === undefined ? message : `${message} ${first.at}: ${first.fault}`
}

function isJson(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true
  try {
    return parseMediaType(contentType ?? '').type === 'application/json'
  } catch {
    return false
  }
}

/** Without parameters, which may contain anything, even a signature. */
export function nameMediaType(contentType = 'none'): string {
  return /^[\w.+-]{1,40}(\/[\w.+-]{1,60})?(?=$|;|\s)/.exec(contentType)?.[0] ?? 'malformed'
}

export function refuse(verdict: Exclude<Refusal, 'probe'>, facts: DeliveryFacts = {}, about: About = {}): Reception {
  const { endpointId = null, endpointName = null } = about
  const all = { ...about.facts, ...facts }
  return { verdict, endpointId, endpointName, event: null, runs: 0, workflows: [], facts: all, complaint: null }
}

export function nameEndpoint(endpoint: Pick<Endpoint, 'id' | 'name'> | null) {
  return { endpointId: endpoint?.id ?? null, endpointName: endpoint?.name ?? null }
}

type Mistrust = Exclude<SignatureVerdict, { kind: 'valid' }>

function distrust(signature: Mistrust, endpoint: Endpoint, delivery: RawDelivery, jumpMs: number): Reception {
  const { verdict, facts } = describeMistrust(signature, endpoint.scheme, jumpMs)
  const reception = refuse(verdict, facts, nameEndpoint(endpoint))
  if (signature.kind !== 'invalid' || signature.reason !== 'mismatch') return reception
  const retired = retiredSecrets(endpoint, delivery.receivedAt)
  if (retired.length === 0) return reception
  return { ...reception, lookBack: () => findSigner(endpoint, retired, delivery) }
}

/** A timestamp that is too old still tells which secret signed it. */
function findSigner(
  { scheme }: Endpoint,
  retired: ReturnType<typeof retiredSecrets>,
  delivery: RawDelivery,
): DeliveryFacts | null {
  const signs = (value: string) => verifySignature(scheme, [value], delivery, delivery.receivedAt).kind !== 'invalid'
  const signer = retired.find(({ value }) => signs(value))
  return signer ? { reason: 'old_secret', retiredAt: isoTime(signer.until) } : null
}

/** The verdict on a signature that is not valid, by the scheme that it should follow. */
export function describeMistrust(
  signature: Mistrust,
  { toleranceSeconds }: Pick<SignatureScheme, 'toleranceSeconds'>,
  jumpMs: number,
): { verdict: 'unavailable' | 'stale' | 'bad_signature'; facts: DeliveryFacts } {
  const { skewSeconds } = signature.kind === 'stale' ? signature : {}
  // A replay is never from the future: our clock may be behind, and later the delivery fits.
  if (skewSeconds !== undefined && skewSeconds < 0) {
    return { verdict: 'unavailable', facts: { skewSeconds, reason: 'signed ahead of our clock' } }
  }
  // By the clock as it was, the delivery is fresh: the clock may be wrong now, and be corrected.
  if (skewSeconds !== undefined && Math.abs(skewSeconds - jumpMs / 1_000) <= toleranceSeconds) {
    return { verdict: 'unavailable', facts: { skewSeconds, reason: 'our clock was set forward' } }
  }
  if (signature.kind === 'stale') return { verdict: 'stale', facts: { skewSeconds: signature.skewSeconds } }
  const header = signature.header === undefined ? {} : { header: signature.header }
  return { verdict: 'bad_signature', facts: { reason: signature.reason, ...header } }
}

function describeTrust({ skewSeconds }: Extract<SignatureVerdict, { kind: 'valid' }>, secret: number): DeliveryFacts {
  return skewSeconds === null ? { secret } : { secret, skewSeconds }
}

/** Parts of names that have to do with signing, at any place. */
const WANTED = /signature|hmac|digest|checksum|timestamp/i
/** Whole words of names, between hyphens, that have to do with signing. */
const WANTED_WORD = /(^|-)(mac|hash|proof|seal|sig|sign|id|time|ts|date|nonce|event|delivery|version|v)(-|$)/i
/** Parts of names that are credentials or identify a person; three that are never signed. */
const UNWANTED = /auth|cookie|token|key|secret|password|session|forwarded|client|user|real-ip|trace|^(date|via|host)$/i

const MAX_HEADERS = 20
const MAX_VALUE_LENGTH = 4_096

/**
 * The headers that a signature may cover, by name in lower case and without credentials. At most 20
 * headers of 4,096 characters each.
 */
export function pickSigningHeaders(rawHeaders: readonly string[]): Record<string, string> {
  const picked = new Map<string, string>()
  for (let at = 0; at + 1 < rawHeaders.length && picked.size < MAX_HEADERS; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at]?.toLowerCase(), rawHeaders[at + 1]]
    if (isWanted(name) && value.length <= MAX_VALUE_LENGTH) picked.set(name, value)
  }
  return Object.fromEntries(picked)
}

function isWanted(name: string): boolean {
  return (WANTED.test(name) || WANTED_WORD.test(name)) && !UNWANTED.test(name)
}

/** A reception with the verdict that ledger and log get. */
export type ReportedReception = Omit<Reception, 'verdict'> & { verdict: Verdict }

/** The notice of a delivery that took `ms`. */
export function describeReception(id: string, reception: ReportedReception, ms: number) {
  const { verdict, endpointId, endpointName, event, runs, workflows, facts } = reception
  return {
    kind: 'delivery.received',
    delivery: id,
    endpoint: endpointId,
    endpointName,
    account: event?.account ?? null,
    verdict,
    event: event?.id ?? null,
    type: event?.type ?? null,
    subject: event?.subject ?? null,
    runs,
    workflows,
    facts,
    ms,
  } as const
}
