import { hash, randomFillSync } from 'node:crypto'

/**
 * Prefixes of the ids we make; the service's own ids (`evt_…`) are never made here but by the
 * sandbox.
 */
type IdPrefix = 'run' | 'dlv' | 'end' | 'wrk' | 'evt' | 'fil' | 'trf' | 'key' | 'whk'

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const RANDOM_DIGITS = 10

const pool = new Uint8Array(RANDOM_DIGITS * 256)
let used = pool.length
let latest = { now: -1, time: '' }
let made = 0

/**
 * `<prefix>_`, 9 digits of time, 4 that count, 10 random ones (50 bits), in base 32. Ids of one
 * process and moment sort in the order in which they were made, whatever moments came between;
 * those of several processes by their millisecond.
 */
export function newId(prefix: IdPrefix, now: number): string {
  if (now !== latest.now) latest = { now, time: encode(now, 9) }
  // Never back to 0 with a new moment: an older one may come again. It goes round after a million.
  return `${prefix}_${latest.time}${encode(made++, 4)}${randomDigits()}`
}

/** What sorts before every id made at `now` or later, and after every id made before. */
export function firstId(prefix: IdPrefix, now: number): string {
  return `${prefix}_${encode(Math.max(0, Math.ceil(now)), 9)}`
}

/** The same id for the same words, as random as their hash. */
export function deriveId(prefix: IdPrefix, ...words: (string | number)[]): string {
  return `${prefix}_${digitsOf(words, 26)}`
}

/**
 * An id of a run that `run` starts: it sorts among the runs of that one's moment and is the same
 * for the same words.
 */
export function deriveRunId(run: string, ...words: (string | number)[]): string {
  return `${run.slice(0, 13)}${digitsOf([run, ...words], 14)}`
}

function digitsOf(words: readonly (string | number)[], count: number): string {
  const bytes = hash('sha256', words.join('\0'), 'buffer')
  return [...bytes.subarray(0, count)].map((byte) => ALPHABET[byte & 31]).join('')
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
  const bytes = randomFillSync(new Uint8Array(32))
  return [...bytes].map((byte) => ALPHABET[byte & 31]).join('')
}
