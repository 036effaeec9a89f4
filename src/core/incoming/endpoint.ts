import { randomBytes } from 'node:crypto'
import { UpshotError } from '../errors.ts'
import { newId, randomWord } from '../ids.ts'
import { matchType } from './event.ts'
import { parseSecret, SCHEME_PRESETS, type SignatureScheme } from './signature.ts'

/** One of our addresses for deliveries, with its signature scheme and secrets. */
export interface Endpoint {
  id: string
  /** Chosen by the user; unique among endpoints that are not removed. */
  name: string
  /** Last part of its URL, `/hooks/<path>`: the name and an unguessable word. */
  path: string
  /** Account of its events: runs get this account's API key and base URL. */
  account: string
  /**
   * Patterns of event types that may start runs, such as `file.*`; other events are only stored.
   */
  events: string[]
  scheme: SignatureScheme
  secrets: EndpointSecret[]
  /** `learning`: the scheme is not known yet; deliveries are captured and answered 503. */
  status: 'active' | 'learning' | 'disabled'
  createdAt: number
  /** Rises with each change. A change based on an older revision is refused. See decision 20. */
  revision: number
}

/** A secret and the time in which it is valid. */
interface EndpointSecret {
  /** Counted from 0 as secrets are added, and never reused. */
  position: number
  value: string
  /**
   * When it was added, in epoch milliseconds. It counts from then on whatever our clock says, which
   * may be set back.
   */
  activeFrom: number
  /** Epoch milliseconds, exclusive; null until it is retired. */
  until: number | null
}

/** Retired secrets are kept sealed for 30 days, three of each endpoint. See decision 21. */
const RETIRED_KEPT_MS = 30 * 86_400_000
const MAX_RETIRED = 3

/** Name of the endpoint that the app makes for its own sandbox. */
export const SANDBOX_ENDPOINT = 'sandbox'
/** Name of the endpoint that the app makes for the service named by the environment. */
export const SERVICE_ENDPOINT = 'service'

/** Shortest key that an endpoint accepts: 192 bits. */
const MIN_SECRET_BYTES = 24
const NAME = /^[a-z0-9][a-z0-9-]{0,39}$/

/** An endpoint as a user describes it. Defaults: account `default`, events `*`, scheme `hex`. */
interface NewEndpoint {
  name: string
  /** Generated when left out. */
  secret?: string
  account?: string
  events?: string[]
  scheme?: SignatureScheme
}

/** The refusal to add a second endpoint of a name. */
export function describeTakenEndpoint(name: string): UpshotError {
  return new UpshotError('conflict', `There is an endpoint named "${name}" already.`, {
    details: { fix: 'Choose another name.' },
  })
}

/** Completes an endpoint; throws `invalid_request` for an invalid name or a weak secret. */
export function planEndpoint(given: NewEndpoint, now: number): Endpoint {
  if (!NAME.test(given.name)) {
    throw new UpshotError(
      'invalid_request',
      `"${given.name}" is not an endpoint name. Use a-z, 0-9 and "-", at most 40.`,
    )
  }
  const scheme = given.scheme ?? SCHEME_PRESETS.hex
  const secret = given.secret ?? newSecret(scheme)
  requireStrongSecret(secret, scheme)
  return {
    id: newId('end', now),
    name: given.name,
    path: `${given.name}-${randomWord()}`,
    account: given.account ?? 'default',
    events: given.events ?? ['*'],
    scheme,
    secrets: [{ position: 0, value: secret, activeFrom: now, until: null }],
    status: 'active',
    createdAt: now,
    revision: 0,
  }
}

/** A random secret, encoded as the scheme expects: 32 bytes, or 32 digits (160 bits) as text. */
export function newSecret({ secret }: SecretForm): string {
  if (secret === 'hex') return randomBytes(32).toString('hex')
  // The prefix is part of the Standard Webhooks format, and other receivers expect it.
  return secret === 'base64' ? `whsec_${randomBytes(32).toString('base64')}` : randomWord()
}

/**
 * True when the secret decodes to a key of at least 24 bytes; false for text that does not decode.
 */
export function isStrongSecret(secret: string, scheme: SecretForm = SCHEME_PRESETS.hex): boolean {
  return (parseSecret(scheme, secret)?.length ?? 0) >= MIN_SECRET_BYTES
}

type SecretForm = Pick<SignatureScheme, 'secret'>

function requireStrongSecret(secret: string, scheme: SecretForm): void {
  if (isStrongSecret(secret, scheme)) return
  if (parseSecret(scheme, secret) === null) {
    throw new UpshotError('invalid_request', `The webhook secret is empty or not written as ${scheme.secret}.`)
  }
  throw new UpshotError(
    'invalid_request',
    `The webhook secret is shorter than ${MIN_SECRET_BYTES} bytes. Make a longer one: "openssl rand -hex 32".`,
  )
}

/**
 * Adds a secret that is valid from `now`; older ones stay valid for `overlapMs`, for deliveries
 * under way. Throws `invalid_request` for a weak secret.
 */
export function planRotation(
  endpoint: Endpoint,
  secret: string,
  { overlapMs, now }: { overlapMs: number; now: number },
): Endpoint {
  requireStrongSecret(secret, endpoint.scheme)
  const position = 1 + Math.max(-1, ...endpoint.secrets.map((known) => known.position))
  const before = endSecrets(
    endpoint.secrets.filter(({ value }) => value !== secret),
    { end: now + overlapMs, now },
  )
  return { ...endpoint, secrets: [...before, { position, value: secret, activeFrom: now, until: null }] }
}

/** Keeps only the newest secret valid; the others end at `now`. */
export function planRetirement(endpoint: Endpoint, now: number): Endpoint {
  const before = endSecrets(endpoint.secrets.slice(0, -1), { end: now, now })
  return { ...endpoint, secrets: [...before, ...endpoint.secrets.slice(-1)] }
}

function endSecrets(secrets: readonly EndpointSecret[], { end, now }: { end: number; now: number }): EndpointSecret[] {
  const ended = secrets.map((old) => ({ ...old, until: Math.min(old.until ?? end, end) }))
  return dropForgotten(ended, now)
}

/** Without the retired secrets that are kept no longer; the same endpoint where it has none. */
export function planForgetting(endpoint: Endpoint, now: number): Endpoint {
  const secrets = dropForgotten(endpoint.secrets, now)
  return secrets.length === endpoint.secrets.length ? endpoint : { ...endpoint, secrets }
}

function dropForgotten(secrets: readonly EndpointSecret[], now: number): EndpointSecret[] {
  const kept = retiredSecrets({ secrets }, now).map(({ position }) => position)
  return secrets.filter((secret) => isActive(secret, now) || kept.includes(secret.position))
}

/**
 * Secrets that are no longer accepted and are still kept, the latest first. They only explain a
 * refusal.
 */
export function retiredSecrets(
  { secrets }: { secrets: readonly EndpointSecret[] },
  now: number,
): (EndpointSecret & { until: number })[] {
  return secrets
    .flatMap((secret) => (secret.until === null || isActive(secret, now) ? [] : [{ ...secret, until: secret.until }]))
    .filter(({ until }) => until > now - RETIRED_KEPT_MS)
    .toSorted((one, other) => other.until - one.until)
    .slice(0, MAX_RETIRED)
}

/**
 * Changes the scheme. Throws `invalid_request` when the newest secret is not a strong key under it.
 */
export function planScheme(endpoint: Endpoint, scheme: SignatureScheme): Endpoint {
  requireStrongSecret(currentSecret(endpoint), scheme)
  return { ...endpoint, scheme }
}

/**
 * Sets the scheme that was found and makes the endpoint active; the store then drops its captures.
 * Throws `invalid_request` when the secret is not a strong key under the scheme.
 */
export function planPin(endpoint: Endpoint, scheme: SignatureScheme): Endpoint {
  return { ...planScheme(endpoint, scheme), status: 'active' }
}

/** True where an event of the type may start runs when it comes by the endpoint. */
export function wantsType({ events }: Pick<Endpoint, 'events'>, type: string): boolean {
  return events.some((pattern) => matchType(pattern, type))
}

/** The newest secret, which deliveries should be signed with. */
export function currentSecret(endpoint: Endpoint): string {
  return endpoint.secrets.at(-1)?.value ?? ''
}

/** Secrets that are valid at `now`, oldest first. */
export function activeSecrets(endpoint: Endpoint, now: number): string[] {
  return endpoint.secrets.filter((secret) => isActive(secret, now)).map((secret) => secret.value)
}

/** Position of the secret at `index` in `activeSecrets`. */
export function positionOf(endpoint: Endpoint, index: number, now: number): number {
  return endpoint.secrets.filter((secret) => isActive(secret, now))[index]?.position ?? index
}

/** True when deliveries signed with the secret are accepted at `now`. */
export function isActive({ until }: Pick<EndpointSecret, 'until'>, now: number): boolean {
  return until === null || now < until
}

/** The last accepted delivery signed with a secret, exact to the minute; null: none. */
export interface SecretUse {
  position: number
  lastUsedAt: number | null
}

/** The last accepted delivery of an endpoint, exact to the minute. */
export interface EndpointUse {
  endpointId: string
  lastUsedAt: number
}

/** A sender may repeat deliveries signed with a replaced secret for this long. */
const QUIET_MS = 3_600_000

/**
 * Whether an old secret may be retired: only when unused for an hour, and after the newest one was
 * used. Earlier, the service might be left without a valid secret.
 */
export function decideRetirement(
  { old, newest }: { old: Pick<SecretUse, 'lastUsedAt'>; newest: Pick<SecretUse, 'lastUsedAt'> },
  now: number,
): 'safe' | 'in_use' | 'newest_unused' {
  if (old.lastUsedAt !== null && now - old.lastUsedAt <= QUIET_MS) return 'in_use'
  return newest.lastUsedAt === null ? 'newest_unused' : 'safe'
}

/** Name of an endpoint, removed ones included, because their deliveries stay in the ledger. */
export interface EndpointName {
  id: string
  name: string
  removedAt: number | null
}
