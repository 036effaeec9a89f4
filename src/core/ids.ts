import { hash, randomFillSync } from 'node:crypto'

/** Prefixes of the ids that we make; `fil`, `trf`, `key` and `whk` are the sandbox's. */
type IdPrefix =
  | 'run'
  | 'dlv'
  | 'end'
  | 'wrk'
  | 'evt'
  | 'opr'
  | 'hok'
  | 'aud'
  | 'apr'
  | 'tok'
  | 'ses'
  | 'alr'
  | 'sch'
  | 'fil'
  | 'trf'
  | 'key'
  | 'whk'

/**
 * Base 32 without `i`, `l`, `o` and `u`, which people confuse; in ASCII order, so that ids sort.
 */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const RANDOM_DIGITS = 10
/** Digits 14 and 15 of a run's id name the database that keeps it; one database is cell `00`. */
const CELL = '00'

/** Random bytes drawn ahead, because each call to the system costs more than the id. */
const pool = new Uint8Array(RANDOM_DIGITS * 256)
let used = pool.length
/**
 * Ids made by this process. Core's only state: one sequence for all callers is what makes ids sort.
 */
let made = 0

/**
 * `<prefix>_`, then 9 digits of time, 4 of a counter and 10 random ones (50 bits), in base 32. In
 * the id of a run, the first 2 of these 10 are its cell. Ids of one process and millisecond sort in
 * creation order; those of several processes sort by millisecond.
 */
export function newId(prefix: IdPrefix, now: number): string {
  // The counter never restarts with a new millisecond, because an older one may come again. It
  // wraps after a million.
  const counter = encode(made++, 4)
  const random = randomDigits()
  return `${prefix}_${encode(now, 9)}${counter}${prefix === 'run' ? CELL + random.slice(CELL.length) : random}`
}

/** Sorts after every id made before `now`, and before every id made at `now` or later. */
export function firstId(prefix: IdPrefix, now: number): string {
  return `${prefix}_${encode(Math.max(0, Math.ceil(now)), 9)}`
}

/** The moment in an id, which `newId` was given. */
export function readIdTime(id: string): number {
  const [digits = ''] = /(?<=_)\w{9}/.exec(id) ?? []
  return [...digits].reduce((sum, digit) => sum * 32 + ALPHABET.indexOf(digit), 0)
}

/** The same id for the same words: 26 digits (130 bits) of their SHA-256. */
export function deriveId(prefix: IdPrefix, ...words: (string | number)[]): string {
  return `${prefix}_${digitsOf(words, 26)}`
}

/** Ids of events that we make begin so. No delivery may name one: its sender would be before us. */
export const OWN_EVENT_IDS = 'evt_upshot_'

/** The id of an event that we make, the same for the same words. */
export function deriveEventId(...words: (string | number)[]): string {
  return `${OWN_EVENT_IDS}${digitsOf(words, 26)}`
}

/** The id of a group of failures: `grp_` and 10 digits (50 bits) of a hash. */
export function deriveGroupId(...words: string[]): string {
  return `grp_${digitsOf(words, 10)}`
}

/**
 * The id of a run that `run` starts, the same for the same words. It has the cell of `run` and
 * sorts among the runs of its millisecond.
 */
export function deriveRunId(run: string, ...words: (string | number)[]): string {
  const digits = digitsOf([run, ...words], 12)
  return `${run.slice(0, 13)}${digits.slice(0, 4)}${run.slice(17, 19)}${digits.slice(4)}`
}

/** Printable ASCII without spaces at its ends, as a header value must be. */
const HEADER_TEXT = /^[!-~](?:[ -~]*[!-~])?$/
/** Longest key of a step that stands in an idempotency key as it is. */
const MAX_PLAIN_KEY = 64

/**
 * The idempotency key of a step: `<run>/<key>`. A key that is longer than 64 characters, or no
 * header value, becomes `#` and 26 digits of its hash. At most 92 characters of ASCII.
 */
export function deriveIdempotencyKey(run: string, key: string): string {
  const isPlain = key.length <= MAX_PLAIN_KEY && HEADER_TEXT.test(key)
  // No key begins with `#`, which step names may not contain.
  return `${run}/${isPlain ? key : `#${digitsOf([key], 26)}`}`
}

function digitsOf(words: readonly (string | number)[], count: number): string {
  return spellBytes(hash('sha256', words.join('\0'), 'buffer').subarray(0, count))
}

/** A digit for each byte, which says 5 of its bits. */
export function spellBytes(bytes: Uint8Array): string {
  return [...bytes].map((byte) => ALPHABET[byte & 31]).join('')
}

function encode(number: number, digits: number): string {
  let rest = number
  let text = ''
  for (let digit = 0; digit < digits; digit++) {
    text = ALPHABET[rest % 32] + text
    rest = Math.floor(rest / 32)
  }
  return text
}

function randomDigits(): string {
  if (used >= pool.length) {
    randomFillSync(pool)
    used = 0
  }
  let text = ''
  for (const byte of pool.subarray(used, used + RANDOM_DIGITS)) text += ALPHABET[byte & 31]
  used += RANDOM_DIGITS
  return text
}

/** An unguessable word of 32 digits (160 bits) for URLs and secrets. */
export function randomWord(): string {
  return spellBytes(randomFillSync(new Uint8Array(32)))
}

/** A UUID of version 8 (RFC 9562), whose bits may have any meaning. */
export function formatUuid(bytes: Buffer): string {
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
}
