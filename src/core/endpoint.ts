import { randomBytes } from 'node:crypto'
import { UpshotError } from './errors.ts'
import { newId, randomWord } from './ids.ts'
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
}

export interface EndpointSecret {
  value: string
  activeFrom: number
  /** Null: until it is retired. */
  until: number | null
}

/** A shorter secret is refused: an endpoint without a strong one is a door without a lock. */
const SHORTEST_SECRET_BYTES = 24
const NAME = /^[a-z0-9][a-z0-9-]{0,39}$/

export interface NewEndpoint {
  name: string
  /** Generated when it is left out. */
  secret?: string
  account?: string
  events?: string[]
  scheme?: SignatureScheme
}

/** A complete endpoint from what a user gives; throws `invalid_request` for a poor name or a weak secret. */
export function planEndpoint(given: NewEndpoint, now: number): Endpoint {
  if (!NAME.test(given.name)) {
    throw new UpshotError('invalid_request', `"${given.name}" is no endpoint name. Use a-z, 0-9 and "-", 40 at most.`)
  }
  const scheme = given.scheme ?? SCHEME_PRESETS.hex
  const secret = given.secret ?? (scheme.secret === 'hex' ? randomBytes(32).toString('hex') : randomWord())
  requireStrongSecret(secret, scheme)
  return {
    id: newId('end', now),
    name: given.name,
    path: `${given.name}-${randomWord()}`,
    account: given.account ?? 'default',
    events: given.events ?? ['*'],
    scheme,
    secrets: [{ value: secret, activeFrom: now, until: null }],
    status: 'active',
    createdAt: now,
  }
}

/** Whether the key that `secret` stands for is long enough; false also for a text that stands for none. */
export function isStrongSecret(secret: string, scheme: SecretForm = SCHEME_PRESETS.hex): boolean {
  return (parseSecret(scheme, secret)?.length ?? 0) >= SHORTEST_SECRET_BYTES
}

type SecretForm = Pick<SignatureScheme, 'secret'>

function requireStrongSecret(secret: string, scheme: SecretForm): void {
  if (isStrongSecret(secret, scheme)) return
  if (parseSecret(scheme, secret) === null) {
    throw new UpshotError('invalid_request', `The webhook secret is empty or not written as ${scheme.secret}.`)
  }
  throw new UpshotError(
    'invalid_request',
    `The webhook secret is shorter than ${SHORTEST_SECRET_BYTES} bytes. Make a longer one, for example with "openssl rand -hex 32".`,
  )
}

/**
 * The endpoint with a new secret that holds from now on. The ones before stay valid for `overlapMs`, because deliveries
 * signed with them are still on their way; 0 ends them at once. Throws `invalid_request` for a weak secret.
 */
export function planRotation(
  endpoint: Endpoint,
  secret: string,
  { overlapMs, now }: { overlapMs: number; now: number },
): Endpoint {
  requireStrongSecret(secret, endpoint.scheme)
  const end = now + overlapMs
  const before = endpoint.secrets
    .filter(({ value, until }) => value !== secret && (until === null || until > now))
    .map((old) => ({ ...old, until: Math.min(old.until ?? end, end) }))
    .filter(({ until }) => until > now)
  return { ...endpoint, secrets: [...before, { value: secret, activeFrom: now, until: null }] }
}

/**
 * The endpoint with the scheme that was found out; it takes deliveries from now on, and the store drops its captures with
 * the change. Throws `invalid_request` when the secret is no strong key under that scheme.
 */
export function planPin(endpoint: Endpoint, scheme: SignatureScheme): Endpoint {
  requireStrongSecret(currentSecret(endpoint), scheme)
  return { ...endpoint, scheme, status: 'active' }
}

/** The secret that deliveries are to be signed with; the newest. */
export function currentSecret(endpoint: Endpoint): string {
  return endpoint.secrets.at(-1)?.value ?? ''
}

/** Secrets that may sign a delivery at `now`. */
export function activeSecrets(endpoint: Endpoint, now: number): string[] {
  return endpoint.secrets
    .filter((secret) => secret.activeFrom <= now && (secret.until === null || now < secret.until))
    .map((secret) => secret.value)
}
