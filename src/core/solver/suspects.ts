import { isPlainObject } from '../json.ts'

/** Possible differences between a sender's signature and our secret. */
export const CAUSES = [
  'missing_header',
  'stale_timestamp',
  'old_secret',
  'secret_whitespace',
  'secret_prefix',
  'secret_misdecoded',
  'secret_truncated',
  'body_newline',
  'body_reserialised',
] as const
export type Cause = (typeof CAUSES)[number]

/**
 * A secret that the sender may have signed with: text, or key bytes that no encoding of the text
 * gives.
 */
type SuspectSecret = { cause: Cause; advice: string } & ({ text: string } | { key: Buffer })

/** A body that the sender may have signed. */
interface SuspectBody {
  cause: Cause
  advice: string
  body: Buffer
}

/** Shortest part of a secret that is tried, in characters. */
const MIN_PART = 8
/** Longest secret whose parts are tried, in characters. */
const MAX_SECRET = 128

/** Common mistakes with a secret, the likely ones first. No advice contains any of it. */
export function* suspectSecrets(secret: string): Generator<SuspectSecret> {
  yield* texts('secret_whitespace', [
    [secret.trim(), 'Our secret has white space around it that the sender does not sign with: store it without.'],
    [secret.replace(/\s+/g, ''), 'Our secret has white space in it that the sender does not sign with: remove it.'],
    [secret.replace(/^(["'`])(.*)\1$/s, '$2'), 'Our secret is in quotes that do not belong to it: remove them.'],
    ...['\n', '\r\n', ' ', '\t'].map((end): [string, string] => [
      secret + end,
      'The sender signs with a line break or space after the secret. Enter it there again, or store ours with it.',
    ]),
  ])
  const bare = secret.replace(/^[a-z]{2,10}_/i, '')
  yield* texts('secret_prefix', [
    [bare, 'The sender signs without the prefix before the "_" of the secret: store ours without it.'],
    [`whsec_${secret}`, 'The sender signs with "whsec_" in front of the secret: store ours with it.'],
  ])
  yield* suspectKeys(secret, bare)
  yield* suspectParts(secret)
}

function* suspectKeys(secret: string, bare: string): Generator<SuspectSecret> {
  const cause = 'secret_misdecoded'
  const keys: [Buffer, string][] = [
    [Buffer.from(bare, 'base64url'), 'base64, decoded leniently'],
    [Buffer.from(secret, 'base64'), 'base64 with its prefix, decoded leniently'],
    [Buffer.from(secret.replace(/^0x|[^\da-f]/gi, ''), 'hex'), 'hex, decoded leniently'],
    [Buffer.from(Buffer.from(secret).toString('base64')), 'text, encoded in base64 first'],
    [Buffer.from(Buffer.from(secret).toString('hex')), 'text, encoded in hex first'],
    [Buffer.from(Buffer.from(bare, 'base64').toString('hex')), 'base64, and the key as hex text'],
    [Buffer.from(secret.toLowerCase()), 'text in lower case'],
    [Buffer.from(secret.toUpperCase()), 'text in upper case'],
    [Buffer.from(decodePercents(secret)), 'percent-encoded text'],
  ]
  for (const [key, how] of keys) {
    const advice = `The sender reads the secret as ${how}: choose one of hexadecimal digits, the same on both sides.`
    if (key.length >= MIN_PART) yield { cause, key, advice }
  }
}

/** A field that was too short, or a selection that missed a character. */
function* suspectParts(secret: string): Generator<SuspectSecret> {
  const cause = 'secret_truncated'
  const { length } = secret
  for (let kept = Math.min(length, MAX_SECRET) - 1; kept >= MIN_PART; kept--) {
    const advice = `The sender signs with ${kept} of the ${length} characters of our secret: it was cut there.`
    yield { cause, text: secret.slice(0, kept), advice: `${advice} Enter a new one that fits.` }
    yield { cause, text: secret.slice(-kept), advice: `${advice} Enter it there again.` }
  }
  for (let code = 0x21; code <= 0x7e; code++) {
    const character = String.fromCharCode(code)
    yield { cause, text: secret + character, advice: 'Our secret lacks its last character: copy it again.' }
    yield { cause, text: character + secret, advice: 'Our secret lacks its first character: copy it again.' }
  }
}

function* texts(cause: Cause, list: [string, string][]): Generator<SuspectSecret> {
  for (const [text, advice] of list) yield { cause, text, advice }
}

function decodePercents(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Common changes to a body on its way, most often by a proxy or middleware. */
export function* suspectBodies(body: Uint8Array): Generator<SuspectBody> {
  const text = Buffer.from(body).toString('utf8')
  const lineEnds = 'Line breaks or a byte order mark were added or removed on the way: find the proxy that does it.'
  const newlines = [
    trimLineEnds(text),
    `${text}\n`,
    `${text}\r\n`,
    text.replaceAll('\r\n', '\n'),
    text.replace(/\r?\n/g, '\r\n'),
    text.replace(/^\uFEFF/, ''),
    `\uFEFF${text}`,
  ]
  for (const each of newlines) yield { cause: 'body_newline', advice: lineEnds, body: Buffer.from(each) }
  const advice =
    'A proxy or middleware has rewritten the JSON, so these are not the signed bytes. Make it pass the body unchanged.'
  for (const each of rewriteJson(text)) yield { cause: 'body_reserialised', advice, body: Buffer.from(each) }
}

/** Without the line breaks at its end. A pattern would begin anew at each of the others. */
function trimLineEnds(text: string): string {
  let end = text.length
  while (end > 0 && '\r\n'.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

/** The same JSON, as common serializers write it. */
function rewriteJson(text: string): string[] {
  try {
    return writeAgain(JSON.parse(text))
  } catch {
    // Not JSON, or nested too deeply to parse: no proxy has rewritten it either.
    return []
  }
}

function writeAgain(value: unknown): string[] {
  const compact = JSON.stringify(value)
  const spaced = spaceOut(value)
  const slashed = compact.replaceAll('/', '\\/')
  return [
    compact,
    spaced,
    JSON.stringify(value, null, 2),
    JSON.stringify(value, null, 4),
    toAscii(compact),
    toAscii(spaced),
    slashed,
    toAscii(slashed),
    JSON.stringify(sortKeys(value)),
    spaceOut(sortKeys(value)),
  ]
}

/**
 * On one line, with a space after each comma and colon. Line breaks within texts are escaped, so
 * only those of the layout go.
 */
function spaceOut(value: unknown): string {
  return JSON.stringify(value, null, 1)
    .replace(/,\n\s*/g, ', ')
    .replace(/\n\s*/g, '')
}

function toAscii(json: string): string {
  return json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (!isPlainObject(value)) return value
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(entries.map(([key, part]) => [key, sortKeys(part)]))
}
