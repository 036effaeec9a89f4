import { randomBytes } from 'node:crypto'
import { UpshotError } from '../errors.ts'
import { newId, randomWord } from '../ids.ts'
import { parseSecret, SCHEME_PRESETS, type SignatureScheme } from './signature.ts'

/** An address of ours that receives deliveries. */
export interface Endpoint {
  id: string
  /** Chosen by the user; unique. */
  name: string
  /** The last part of its URL, `/hooks/<path>`: the name and an unguessable word. */
  path: string
  /** Whose events these are: the API key and base URL that their runs get. */
  account: string
  /** Patterns of event types to act on, such as `file.*`; others are stored and start nothing. */
  events: string[]
  scheme: SignatureScheme
  secrets: EndpointSecret[]
  /** `learning`: its scheme is not known yet; deliveries are captured and answered 503. */
  status: 'active' | 'learning' | 'disabled'
  createdAt: number
  /**
   * Rises with each change: one that rests on an older one is refused, so that no change undoes
   * another unseen.
   */
  revision: number
}

export interface EndpointSecret {
  /** Counted from 0 in the order in which they were added, and never given to another one. */
  position: number
  value: string
  activeFrom: number
  /** Null: until it is retired. */
  until: number | null
}

/**
 * Names of the endpoints that the app makes by itself: of the sandbox, and of the service that the
 * environment names.
 */
export const SANDBOX_ENDPOINT = 'sandbox'
export const SERVICE_ENDPOINT = 'service'

/** A shorter secret is refused: an endpoint without a strong one is a door without a lock. */
const MIN_SECRET_BYTES = 24
const NAME = /^[a-z0-9][a-z0-9-]{0,39}$/

interface NewEndpoint {
  name: string
  /** Generated when it is left out. */
  secret?: string
  account?: string
  events?: string[]
  scheme?: SignatureScheme
}

/**
 * A complete endpoint from what a user gives; throws `invalid_request` for a poor name or a weak
 * secret.
 */
export function planEndpoint(given: NewEndpoint, now: number): Endpoint {
  if (!NAME.test(given.name)) {
    throw new UpshotError('invalid_request', `"${given.name}" is no endpoint name. Use a-z, 0-9 and "-", 40 at most.`)
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

/** A strong secret, written as the scheme wants it. */
export function newSecret({ secret }: SecretForm): string {
  if (secret === 'hex') return randomBytes(32).toString('hex')
  // As the Standard Webhooks write it, and as other receivers of theirs expect it.
  return secret === 'base64' ? `whsec_${randomBytes(32).toString('base64')}` : randomWord()
}

/**
 * Whether the key that `secret` stands for is long enough; false also for a text that stands for
 * none.
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
    `The webhook secret is shorter than ${MIN_SECRET_BYTES} bytes. Make a longer one, for example with "openssl rand -hex 32".`,
  )
}

/**
 * The endpoint with a new secret that holds from now on. The ones before stay valid for
 * `overlapMs`, because deliveries signed with them are still on their way; 0 ends them at once.
 * Throws `invalid_request` for a weak secret.
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

/**
 * The endpoint with its newest secret only: deliveries signed with an older one are refused from
 * `now` on.
 */
export function planRetirement(endpoint: Endpoint, now: number): Endpoint {
  const before = endSecrets(endpoint.secrets.slice(0, -1), { end: now, now })
  return { ...endpoint, secrets: [...before, ...endpoint.secrets.slice(-1)] }
}

function endSecrets(secrets: readonly EndpointSecret[], { end, now }: { end: number; now: number }): EndpointSecret[] {
  return secrets.map((old) => ({ ...old, until: Math.min(old.until ?? end, end) })).filter(({ until }) => until > now)
}

/**
 * The endpoint with a scheme that its user has settled on. Throws `invalid_request` when the newest
 * secret is no strong key under it: a delivery could then never be verified, or all too easily.
 */
export function planScheme(endpoint: Endpoint, scheme: SignatureScheme): Endpoint {
  requireStrongSecret(currentSecret(endpoint), scheme)
  return { ...endpoint, scheme }
}

/**
 * The endpoint with the scheme that was found out; it takes deliveries from now on, and the store
 * drops its captures with the change. Throws `invalid_request` when the secret is no strong key
 * under that scheme.
 */
export function planPin(endpoint: Endpoint, scheme: SignatureScheme): Endpoint {
  return { ...planScheme(endpoint, scheme), status: 'active' }
}

/** The secret that deliveries are to be signed with; the newest. */
export function currentSecret(endpoint: Endpoint): string {
  return endpoint.secrets.at(-1)?.value ?? ''
}

/** Secrets that may sign a delivery at `now`. */
export function activeSecrets(endpoint: Endpoint, now: number): string[] {
  return endpoint.secrets.filter((secret) => isActive(secret, now)).map((secret) => secret.value)
}

/** The position of the one that stands at `index` among the active ones. */
export function positionOf(endpoint: Endpoint, index: number, now: number): number {
  return endpoint.secrets.filter((secret) => isActive(secret, now))[index]?.position ?? index
}

/** Whether deliveries signed with it are taken at `now`. */
export function isActive({ activeFrom, until }: EndpointSecret, now: number): boolean {
  return activeFrom <= now && (until === null || now < until)
}

/**
 * When a secret was last used to sign a delivery that we took, to the minute; null when it never
 * was.
 */
export interface SecretUse {
  position: number
  lastUsedAt: number | null
}

/**
 * Deliveries that were signed with a secret before it was replaced may be sent again for so long.
 */
const QUIET_MS = 3_600_000

/**
 * Whether an old secret may be retired at `now`: not while it was used in the last hour, and not
 * before the newest one was used, or nothing would be left that the service signs with.
 */
export function decideRetirement(
  { old, newest }: { old: Pick<SecretUse, 'lastUsedAt'>; newest: Pick<SecretUse, 'lastUsedAt'> },
  now: number,
): 'safe' | 'in_use' | 'newest_unused' {
  if (old.lastUsedAt !== null && now - old.lastUsedAt <= QUIET_MS) return 'in_use'
  return newest.lastUsedAt === null ? 'newest_unused' : 'safe'
}

/** The name of an endpoint, also of one that is removed: what it received is still there. */
export interface EndpointName {
  id: string
  name: string
  removedAt: number | null
}
