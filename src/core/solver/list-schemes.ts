import {
  ALGORITHMS,
  ENCODINGS,
  parseSignature,
  SCHEME_PRESETS,
  SECRET_FORMS,
  type SignatureScheme,
  TEMPLATES,
} from '../incoming/signature.ts'

/** Headers of a delivery by name; case is ignored. */
export type Headers = Readonly<Record<string, string>>

const TIMESTAMP_TEMPLATES = TEMPLATES.filter((template) => template !== 'id.timestamp.body')

/** Digits or base64 of a MAC. The shortest one is SHA-1's: 20 bytes. */
const MAC_LIKE = /[0-9a-f]{40,}|[\w+/-]{27,}/i
const TIMESTAMP_LIKE = /^\d{9,15}$/
/**
 * Eleven digits of seconds last until the year 5138; twelve digits of milliseconds begin in 1973.
 */
const MAX_DIGITS_OF_SECONDS = 11
const ID_NAME = /(^|-)(id|uuid|event|delivery|message|msg|nonce)(-|$)/i
/** Candidate headers that are tried: a real sender has few, a stranger may send hundreds. */
const MAX_HEADERS = 6

type Part = Partial<SignatureScheme>

/** Every scheme that these headers allow; each is a combination to try. */
export function listSchemes(headers: Headers): SignatureScheme[] {
  const names = Object.keys(headers).filter((name) => MAC_LIKE.test(headers[name] ?? ''))
  return names.slice(0, MAX_HEADERS).flatMap((header) => {
    const value = headers[header] ?? ''
    return listGrammars(value).flatMap((grammar) => listSigned(headers, value, grammar).flatMap(withKeys({ header })))
  })
}

/** Completes a scheme with the 48 combinations of algorithm, encoding and secret form. */
function withKeys(header: Part): (part: Part) => SignatureScheme[] {
  return (part) =>
    ALGORITHMS.flatMap((algorithm) =>
      ENCODINGS.flatMap((encoding) =>
        SECRET_FORMS.map((secret) => ({ ...SCHEME_PRESETS.hex, ...header, ...part, algorithm, encoding, secret })),
      ),
    )
}

/** The four grammars, with the names that occur in this value. */
function listGrammars(value: string): Part[] {
  const prefix = /^([a-z][\w-]*[=:]\s*)(?=[\w+/-]{27})/i.exec(value.trim())?.[1]
  const pairs = value.split(/[,;]/).map((pair) => pair.trim().replaceAll('"', '').split('='))
  const signatureKey = pairs.find(([key, rest]) => key && MAC_LIKE.test(rest ?? ''))?.[0]
  const timestampKey = pairs.find(([key, rest]) => key && TIMESTAMP_LIKE.test(rest ?? ''))?.[0]
  return [
    { grammar: 'plain' },
    { grammar: 'prefix', ...(prefix === undefined ? {} : { prefix }) },
    {
      grammar: 'pairs',
      ...(signatureKey === undefined ? {} : { signatureKey }),
      ...(timestampKey === undefined ? {} : { timestampKey }),
    },
    { grammar: 'versions' },
  ]
}

/** Possible signed content: the body alone, or with the timestamps and ids of these headers. */
function listSigned(headers: Headers, value: string, grammar: Part): Part[] {
  const inline = grammar.grammar === 'pairs' ? readInlineTimestamp(value, grammar.timestampKey ?? 't') : undefined
  const timestamps = inline === undefined ? listTimestamps(headers) : [{ timestampUnit: unitOf(inline) }]
  const ids = Object.keys(headers).filter((name) => ID_NAME.test(name))
  const idHeaders: Part[] = ids.length === 0 ? [{}] : ids.slice(0, MAX_HEADERS).map((idHeader) => ({ idHeader }))
  return [
    { ...grammar, signed: 'body' },
    ...timestamps.flatMap((timestamp) => [
      ...TIMESTAMP_TEMPLATES.map((signed) => ({ ...grammar, ...timestamp, signed })),
      ...idHeaders.map((id) => ({ ...grammar, ...timestamp, ...id, signed: 'id.timestamp.body' as const })),
    ]),
  ]
}

function listTimestamps(headers: Headers): Part[] {
  const names = Object.keys(headers).filter((name) => TIMESTAMP_LIKE.test(headers[name] ?? ''))
  if (names.length === 0) return [{}]
  return names
    .slice(0, MAX_HEADERS)
    .map((timestampHeader) => ({ timestampHeader, timestampUnit: unitOf(headers[timestampHeader] ?? '') }))
}

function readInlineTimestamp(value: string, key: string): string | undefined {
  const pair = value.split(/[,;]/).find((each) => each.trim().startsWith(`${key}=`))
  return pair
    ?.trim()
    .slice(key.length + 1)
    .replaceAll('"', '')
}

function unitOf(timestamp: string): SignatureScheme['timestampUnit'] {
  return timestamp.length > MAX_DIGITS_OF_SECONDS ? 'ms' : 's'
}

const MAC_BYTES = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 } as const

/**
 * True when the headers hold text in the form of this scheme's signatures. Most combinations end
 * here, before any hashing.
 */
export function isPlausible(scheme: SignatureScheme, header: (name: string) => string | undefined): boolean {
  const claim = parseSignature(scheme, header)
  return claim.kind === 'claim' && claim.candidates.some((candidate) => isMacText(scheme, candidate))
}

function isMacText({ algorithm, encoding }: SignatureScheme, text: string): boolean {
  const bytes = MAC_BYTES[algorithm]
  switch (encoding) {
    case 'hex':
      return text.length === bytes * 2 && /^[\da-f]+$/.test(text)
    case 'hex-upper':
      return text.length === bytes * 2 && /^[\dA-F]+$/.test(text)
    case 'base64':
      return text.length === Math.ceil(bytes / 3) * 4
    case 'base64url':
      return text.length === Math.ceil((bytes * 4) / 3) && /^[\w-]+$/.test(text)
  }
}
