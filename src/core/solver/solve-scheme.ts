import type { Capture } from '../incoming/delivery.ts'
import { SCHEME_PRESETS, type SchemePreset, type SignatureScheme, verifySignature } from '../incoming/signature.ts'
import { isoTime } from '../time.ts'
import { type Headers, isPlausible, listSchemes } from './list-schemes.ts'
import { type Cause, suspectBodies, suspectSecrets } from './suspects.ts'

/** A delivery, and the secrets that may have signed it. */
export interface Evidence {
  headers: Headers
  /** The received bytes. */
  body: Uint8Array
  /** Secrets that are valid now, the newest last. */
  secrets: readonly string[]
  /** Secrets that are no longer valid, with the moment of their retirement. */
  oldSecrets?: readonly { value: string; until: number }[]
  /** Epoch milliseconds; without it the age of a timestamp is not checked. */
  receivedAt?: number
}

/** The solver's answer; `tried` counts the combinations. */
export type Solution =
  /**
   * The delivery is signed by this scheme. `preset`: its name, if only header names differ from a
   * preset.
   */
  | { kind: 'match'; scheme: SignatureScheme; preset: SchemePreset | null; tried: number }
  /** It fits `scheme` once `cause` is fixed; null where the scheme is not known. */
  | { kind: 'near'; cause: Cause; advice: string; scheme: SignatureScheme | null; tried: number }
  | { kind: 'none'; tried: number }

/** Bytes hashed in the search for a cut secret: about a tenth of a second. */
const MAX_BYTES_HASHED = 67_108_864
/** The same for all else: headers of a stranger may allow thousands of schemes. */
const MAX_BYTES_COMPARED = 4 * MAX_BYTES_HASHED
/** The cost of a hash beside that of its body, in bytes: about 3 µs. */
const BYTES_BESIDE = 1_000

/**
 * Finds the scheme of a delivery, or the reason why none fits. Pure; no answer contains a secret.
 */
export function solveScheme(evidence: Evidence): Solution {
  return new Search(evidence).solve()
}

/**
 * Solves captures, of which some may be forged or damaged. Resolves with the scheme that most of
 * them match, else the first cause, from the newest capture on. Awaits `pause` before each.
 */
export async function solveCaptures(
  captures: readonly Capture[],
  secrets: Pick<Evidence, 'secrets' | 'oldSecrets'>,
  pause: () => Promise<unknown>,
): Promise<Solution> {
  const solutions: Solution[] = []
  for (const capture of captures.toReversed()) {
    await pause()
    solutions.push(solveScheme({ ...capture, ...secrets }))
  }
  const tried = solutions.reduce((sum, solution) => sum + solution.tried, 0)
  const matches = Object.values(
    Object.groupBy(
      solutions.filter((solution) => solution.kind === 'match'),
      ({ scheme }) => JSON.stringify(scheme),
    ),
  )
  const [most] = matches.toSorted((one, other) => (other?.length ?? 0) - (one?.length ?? 0))
  const best = most?.[0] ?? solutions.find((solution) => solution.kind === 'near')
  return best === undefined ? { kind: 'none', tried } : { ...best, tried }
}

class Search {
  readonly #evidence: Evidence
  readonly #header: (name: string) => string | undefined
  readonly #schemes: SignatureScheme[]
  readonly #plausible: SignatureScheme[]
  #tried = 0
  #hashed = 0

  constructor(evidence: Evidence) {
    const lower = new Map(Object.entries(evidence.headers).map(([name, value]) => [name.toLowerCase(), value]))
    this.#evidence = evidence
    this.#header = (name) => lower.get(name)
    this.#schemes = listSchemes(evidence.headers)
    this.#plausible = this.#schemes.filter((scheme) => isPlausible(scheme, this.#header)).toSorted(byStrength)
  }

  solve(): Solution {
    const { secrets } = this.#evidence
    this.#tried = this.#schemes.length * Math.max(1, secrets.length)
    if (this.#plausible.length === 0) return this.#near('missing_header', this.#describeMissing(), null)
    return this.#tryAsGiven() ?? this.#tryOldSecrets() ?? this.#trySuspects() ?? { kind: 'none', tried: this.#tried }
  }

  #tryAsGiven(): Solution | null {
    const { secrets, body, receivedAt } = this.#evidence
    for (const scheme of this.#plausible) {
      if (this.#hashed > MAX_BYTES_COMPARED) return null
      const verdict = this.#verify(scheme, secrets, body)
      if (verdict === null) continue
      if (verdict.isStale && receivedAt !== undefined)
        return this.#near('stale_timestamp', describeSkew(verdict), scheme)
      return { kind: 'match', scheme, preset: findPreset(scheme), tried: this.#tried }
    }
    return null
  }

  #tryOldSecrets(): Solution | null {
    const { oldSecrets = [], body } = this.#evidence
    for (const { value, until } of oldSecrets) {
      const scheme = this.#find([value], body)
      if (scheme) return this.#near('old_secret', describeOld(until), scheme)
    }
    return null
  }

  #trySuspects(): Solution | null {
    const { secrets, body } = this.#evidence
    for (const suspect of suspectBodies(body)) {
      if (Buffer.compare(suspect.body, body) === 0) continue
      const scheme = this.#find(secrets, suspect.body)
      if (scheme) return this.#near(suspect.cause, suspect.advice, scheme)
    }
    for (const secret of secrets) {
      for (const suspect of suspectSecrets(secret)) {
        if (this.#hashed > MAX_BYTES_HASHED) return null
        const scheme = 'key' in suspect ? this.#findByKey(suspect.key) : this.#find([suspect.text], body)
        if (scheme) return this.#near(suspect.cause, suspect.advice, scheme)
      }
    }
    return null
  }

  #find(secrets: readonly string[], body: Uint8Array): SignatureScheme | null {
    for (const scheme of this.#plausible) {
      if (this.#hashed > MAX_BYTES_COMPARED) return null
      this.#tried += secrets.length
      if (this.#verify(scheme, secrets, body) !== null) return scheme
    }
    return null
  }

  #findByKey(key: Buffer): SignatureScheme | null {
    const schemes = this.#plausible.filter((scheme) => scheme.secret === 'hex')
    this.#tried += schemes.length
    const text = [key.toString('hex')]
    return schemes.find((scheme) => this.#verify(scheme, text, this.#evidence.body) !== null) ?? null
  }

  /** Null when none of the secrets signed this body; a timestamp that is too old still counts. */
  #verify(scheme: SignatureScheme, secrets: readonly string[], body: Uint8Array) {
    const { receivedAt = 0 } = this.#evidence
    this.#hashed += (body.byteLength + BYTES_BESIDE) * secrets.length
    const verdict = verifySignature(scheme, secrets, { header: this.#header, body }, receivedAt)
    if (verdict.kind === 'invalid') return null
    return { isStale: verdict.kind === 'stale', skewSeconds: verdict.skewSeconds ?? 0 }
  }

  #near(cause: Cause, advice: string, scheme: SignatureScheme | null): Solution {
    return { kind: 'near', cause, advice, scheme, tried: this.#tried }
  }

  #describeMissing(): string {
    const names = Object.keys(this.#evidence.headers)
    const seen = names.length === 0 ? 'none' : names.slice(0, 20).join(', ')
    return [
      `No header looks like a signature (seen: ${seen}).`,
      'Check that the sender signs, and that no proxy removes the header.',
      'A capture keeps only headers whose names suggest a signature.',
    ].join(' ')
  }
}

function describeOld(until: number): string {
  const day = isoTime(until).slice(0, 10)
  return `The delivery is signed with a secret that was retired on ${day}: enter the current one at the sender.`
}

function describeSkew({ skewSeconds }: { skewSeconds: number }): string {
  const age = `${Math.abs(skewSeconds)} s ${skewSeconds < 0 ? 'ahead of' : 'behind'} our clock`
  return `The signature is right, but its timestamp is ${age}: synchronize the clocks, or find what delays deliveries.`
}

/**
 * Prefers the signature that covers more and is harder to forge, when a delivery carries several.
 */
function byStrength(one: SignatureScheme, other: SignatureScheme): number {
  return strengthOf(other) - strengthOf(one)
}

function strengthOf({ signed, algorithm }: SignatureScheme): number {
  const covered = signed === 'body' ? 0 : signed === 'id.timestamp.body' ? 20 : 10
  return covered + { sha512: 3, sha384: 2, sha256: 1, sha1: 0 }[algorithm]
}

/** The preset that equals a scheme, header names aside. */
function findPreset(scheme: SignatureScheme): SchemePreset | null {
  const presets = Object.entries(SCHEME_PRESETS) as [SchemePreset, SignatureScheme][]
  return presets.find(([, preset]) => withoutHeaders(preset) === withoutHeaders(scheme))?.[0] ?? null
}

function withoutHeaders(scheme: SignatureScheme): string {
  const bare = { ...scheme, header: '', timestampHeader: '', idHeader: '' }
  return JSON.stringify(Object.entries(bare).sort(([one], [other]) => (one < other ? -1 : 1)))
}
