import { createHmac, timingSafeEqual } from 'node:crypto'
import { UpshotError } from '../errors.ts'

/** Signed content that is more than the body. `:`, `.` and `v0:` stand for themselves. */
export const TEMPLATES = [
  'timestamp.body',
  'id.timestamp.body',
  'timestamp:body',
  'v0:timestamp:body',
  'timestampbody',
] as const

export const ALGORITHMS = ['sha256', 'sha384', 'sha512', 'sha1'] as const
export const ENCODINGS = ['hex', 'hex-upper', 'base64', 'base64url'] as const
export const SECRET_FORMS = ['utf8', 'base64', 'hex'] as const

/**
 * How an endpoint's deliveries are signed. It is data, because the service's specification (section
 * 6) names no algorithm and users must find it out.
 */
export interface SignatureScheme {
  algorithm: (typeof ALGORITHMS)[number]
  encoding: (typeof ENCODINGS)[number]
  /** Header that carries the signature; case is ignored. */
  header: string
  /**
   * Form of the header: `plain`, `prefix` and the signature, `pairs` (`t=…,v1=…`), or `versions`
   * (`v1,<sig> v1,<sig>`).
   */
  grammar: 'plain' | 'prefix' | 'pairs' | 'versions'
  /** Text before the signature in the `prefix` grammar. */
  prefix: string
  /** Key of the signature in the `pairs` grammar. */
  signatureKey: string
  /** Key of the timestamp in the `pairs` grammar. */
  timestampKey: string
  /** The signed bytes: the body, alone or in a template. The body is inserted as bytes. */
  signed: 'body' | (typeof TEMPLATES)[number]
  /** Header of the timestamp, unless the signature header carries it. */
  timestampHeader: string
  timestampUnit: 's' | 'ms'
  /** Header of the delivery's id, for `id.timestamp.body`. */
  idHeader: string
  /** How the secret's text becomes the key. For `base64`, a leading `whsec_` is removed first. */
  secret: (typeof SECRET_FORMS)[number]
  /** Largest distance of a signed timestamp from our clock, in either direction. */
  toleranceSeconds: number
}

/** The scheme of an endpoint that names none, and the value of each field that is left out. */
export const DEFAULT_SCHEME: Readonly<SignatureScheme> = {
  algorithm: 'sha256',
  encoding: 'hex',
  header: 'X-Service-Signature',
  grammar: 'plain',
  prefix: 'sha256=',
  signatureKey: 'v1',
  timestampKey: 't',
  signed: 'body',
  timestampHeader: 'webhook-timestamp',
  timestampUnit: 's',
  idHeader: 'webhook-id',
  secret: 'utf8',
  toleranceSeconds: 300,
}

const preset = (part: Partial<SignatureScheme>): SignatureScheme => ({ ...DEFAULT_SCHEME, ...part })

/** The schemes that users may name. */
export const SCHEME_PRESETS = {
  hex: preset({}),
  base64: preset({ encoding: 'base64' }),
  'sha256-prefix': preset({ grammar: 'prefix' }),
  timestamped: preset({ grammar: 'pairs', signed: 'timestamp.body' }),
  'standard-webhooks': preset({
    encoding: 'base64',
    header: 'webhook-signature',
    grammar: 'versions',
    signed: 'id.timestamp.body',
    secret: 'base64',
  }),
} as const satisfies Record<string, SignatureScheme>
export type SchemePreset = keyof typeof SCHEME_PRESETS

/**
 * Value of a header by lower-case name; undefined when it is missing or was sent more than once.
 */
export type HeaderLookup = (name: string) => string | undefined

export type SignatureVerdict =
  /**
   * `secret`: index of the secret that matched. `skewSeconds`: our clock minus the signed
   * timestamp; null without one.
   */
  | { kind: 'valid'; secret: number; skewSeconds: number | null }
  | { kind: 'invalid'; reason: 'missing_header' | 'malformed_header' | 'mismatch'; header?: string }
  | { kind: 'stale'; skewSeconds: number }

/** Signatures of one header that are checked; further ones are ignored. */
const MAX_CANDIDATES = 10
/** Parts of a header that are read. */
const MAX_PARTS = 100

/**
 * Whether one of `secrets` signed these bytes. Compares in constant time without an early exit, and
 * never throws on any header or body.
 */
export function verifySignature(
  scheme: SignatureScheme,
  secrets: readonly string[],
  delivery: { header: HeaderLookup; body: Uint8Array },
  now: number,
): SignatureVerdict {
  const claimed = parseSignature(scheme, delivery.header)
  if (claimed.kind !== 'claim') return claimed
  const matched = secrets.map((secret) => {
    const key = parseSecret(scheme, secret)
    if (key === null) return false
    const expected = computeMac(scheme, key, claimed, delivery.body)
    return claimed.candidates.map((candidate) => isEqual(expected, candidate)).includes(true)
  })
  if (!matched.includes(true)) return { kind: 'invalid', reason: 'mismatch' }
  const unitsPerSecond = scheme.timestampUnit === 'ms' ? 1_000 : 1
  const skewSeconds =
    claimed.timestamp === null ? null : Math.round(now / 1_000 - Number(claimed.timestamp) / unitsPerSecond)
  if (skewSeconds !== null && Math.abs(skewSeconds) > scheme.toleranceSeconds) return { kind: 'stale', skewSeconds }
  return { kind: 'valid', secret: matched.indexOf(true), skewSeconds }
}

/**
 * Headers with a valid signature of `body`, as a sender would send them; `now` in epoch
 * milliseconds. Throws `invalid_request` when the secret is not a key of the scheme.
 */
export function signBody(
  scheme: SignatureScheme,
  secret: string,
  delivery: { id: string; body: Uint8Array },
  now: number,
): Record<string, string> {
  const moment = scheme.timestampUnit === 'ms' ? now : Math.floor(now / 1_000)
  const timestamp = scheme.signed === 'body' ? null : String(moment)
  const key = parseSecret(scheme, secret)
  if (key === null) throw new UpshotError('invalid_request', `The webhook secret is not written as ${scheme.secret}.`)
  const mac = computeMac(scheme, key, { id: delivery.id, timestamp }, delivery.body)
  const value = {
    plain: mac,
    prefix: scheme.prefix + mac,
    pairs: `${timestamp === null ? '' : `${scheme.timestampKey}=${timestamp},`}${scheme.signatureKey}=${mac}`,
    versions: `v1,${mac}`,
  }[scheme.grammar]
  const headers: Record<string, string> = { [scheme.header]: value }
  if (timestamp !== null && scheme.grammar !== 'pairs') headers[scheme.timestampHeader] = timestamp
  if (scheme.signed === 'id.timestamp.body') headers[scheme.idHeader] = delivery.id
  return headers
}

/** The signatures, timestamp and id that a delivery's headers claim; nothing is verified yet. */
type SignatureClaim = { kind: 'claim'; candidates: string[]; timestamp: string | null; id: string | null }
type InvalidSignature = Extract<SignatureVerdict, { kind: 'invalid' }>

/** Reads the headers as the scheme says, without verifying anything. */
export function parseSignature(scheme: SignatureScheme, header: HeaderLookup): SignatureClaim | InvalidSignature {
  const value = header(scheme.header.toLowerCase())?.trim()
  if (!value) return { kind: 'invalid', reason: 'missing_header', header: scheme.header }
  const { candidates, inlineTimestamp } = parseGrammar(scheme, value)
  if (candidates.length === 0) return { kind: 'invalid', reason: 'malformed_header', header: scheme.header }
  if (scheme.signed === 'body') return { kind: 'claim', candidates, timestamp: null, id: null }

  const timestamp = inlineTimestamp ?? header(scheme.timestampHeader.toLowerCase()) ?? null
  if (timestamp === null) return { kind: 'invalid', reason: 'missing_header', header: scheme.timestampHeader }
  if (!TIMESTAMP[scheme.timestampUnit].test(timestamp))
    return { kind: 'invalid', reason: 'malformed_header', header: scheme.timestampHeader }
  const id = scheme.signed === 'id.timestamp.body' ? header(scheme.idHeader.toLowerCase()) : ''
  if (id === undefined) return { kind: 'invalid', reason: 'missing_header', header: scheme.idHeader }
  return { kind: 'claim', candidates, timestamp, id }
}

/** Digits allowed by unit: 13 digits of seconds would be milliseconds. */
const TIMESTAMP = { s: /^\d{1,12}$/, ms: /^\d{1,15}$/ } as const

function parseGrammar(scheme: SignatureScheme, value: string): { candidates: string[]; inlineTimestamp?: string } {
  switch (scheme.grammar) {
    case 'plain':
      return { candidates: [value] }
    case 'prefix':
      return { candidates: value.startsWith(scheme.prefix) ? [value.slice(scheme.prefix.length)] : [] }
    case 'versions': {
      const signed = value.split(' ', MAX_PARTS).filter((part) => part.startsWith('v1,'))
      return { candidates: capped(signed.map((part) => part.slice(3))) }
    }
    case 'pairs': {
      const pairs = value.split(/[,;]/, MAX_PARTS).map((pair) => pair.trim())
      const valuesOf = (key: string) =>
        pairs.flatMap((pair) => (pair.startsWith(`${key}=`) ? [unquote(pair.slice(key.length + 1))] : []))
      const [timestamp] = valuesOf(scheme.timestampKey)
      const candidates = capped(valuesOf(scheme.signatureKey))
      return timestamp === undefined ? { candidates } : { candidates, inlineTimestamp: timestamp }
    }
  }
}

/** `signature="…"` means the same as `signature=…`. */
function unquote(value: string): string {
  return /^"[^"]*"$/.test(value) ? value.slice(1, -1) : value
}

function capped(candidates: string[]): string[] {
  return candidates.filter((candidate) => candidate !== '').slice(0, MAX_CANDIDATES)
}

function computeMac(
  scheme: SignatureScheme,
  key: Buffer,
  prefix: { id: string | null; timestamp: string | null },
  body: Uint8Array,
): string {
  // As text: with the key in a Buffer, Node 24 takes five times as long.
  const mac = createHmac(scheme.algorithm, key.toString('latin1'), { encoding: 'latin1' })
  if (scheme.signed !== 'body') mac.update(fillTemplate(scheme.signed, prefix))
  mac.update(body)
  return scheme.encoding === 'hex-upper' ? mac.digest('hex').toUpperCase() : mac.digest(scheme.encoding)
}

/** The signed text before the body. */
function fillTemplate(
  template: (typeof TEMPLATES)[number],
  { id, timestamp }: { id: string | null; timestamp: string | null },
): string {
  switch (template) {
    case 'timestamp.body':
      return `${timestamp}.`
    case 'id.timestamp.body':
      return `${id}.${timestamp}.`
    case 'timestamp:body':
      return `${timestamp}:`
    case 'v0:timestamp:body':
      return `v0:${timestamp}:`
    case 'timestampbody':
      return `${timestamp}`
  }
}

/**
 * The key that a secret's text encodes; null when it is empty or not encoded as the scheme says.
 */
export function parseSecret(scheme: Pick<SignatureScheme, 'secret'>, secret: string): Buffer | null {
  const text = scheme.secret === 'base64' ? secret.replace(/^whsec_/, '') : secret
  const key = Buffer.from(text, scheme.secret)
  // Node skips characters that it cannot decode, down to an empty key that anyone could have.
  return key.length > 0 && bareText(scheme, key.toString(scheme.secret)) === bareText(scheme, text) ? key : null
}

function bareText(scheme: Pick<SignatureScheme, 'secret'>, text: string): string {
  if (scheme.secret === 'hex') return text.toLowerCase()
  return scheme.secret === 'base64' ? text.replace(/=+$/, '') : text
}

/** Constant-time comparison. The length of a signature is not secret; its content is. */
function isEqual(expected: string, candidate: string): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(candidate)]
  return one.length === other.length && timingSafeEqual(one, other)
}
