import { createHmac } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compareSides } from '../../../engine/preview/compare/compare-sides.ts'
import type { Deed, RunSide } from '../../../engine/preview/compare/deed.ts'
import { changeTexts } from '../../../engine/preview/portable.ts'
import type { IsolatedSettings } from '../../preview/isolated-process.ts'
import { type Rewriting, rewriteSide } from '../../preview/rewrite-run.ts'

/** Words that verbs, answers of the service, files and targets of waits bring along. */
const OF_OURS = [
  'files get find list snapshot hash delete deleteAll download downloadUrl withDownload exists',
  'outcome deleted changed not found proof reply none true false null undefined default',
  'with and',
  'id name path type file folder size bytes sha256 service mimeType createdAt modifiedAt items',
  'nextPage nextToken totalItems',
]

/**
 * Other words in every text that an event or a step brought. Those of the modules in the folder
 * stay, and so do those of storages and of the `kept` texts. Nobody can undo it without the key.
 */
export function redactWords(
  { workflowsDir, spellings }: Pick<IsolatedSettings, 'workflowsDir' | 'spellings'>,
  kept: readonly string[],
  key: Uint8Array,
): Rewriting {
  const modules = readdirSync(workflowsDir, { recursive: true, encoding: 'utf8' }).filter((name) => {
    return /\.[cm]?[jt]s$/.test(name) && !/\.test\.|node_modules/.test(name)
  })
  const texts = modules.map((name) => readFileSync(join(workflowsDir, name), 'utf8'))
  const storages = Object.values(spellings).flatMap((names) => Object.values(names).flat())
  const words = new WordRedactor(key, [...OF_OURS, ...texts, ...storages, ...kept])
  const text = (value: string) => words.redact(value)
  return { text, name: text, json: (value) => JSON.stringify(changeTexts(JSON.parse(value), text, { rename: text })) }
}

/**
 * The first effect, or the end, in which a preview with other words differs from one with the own
 * words. It is a clause; null where both do the same, in the same order.
 */
export function findOtherPath(rewriting: Rewriting, own: RunSide, other: RunSide): string | null {
  const bare = ({ end, deeds }: RunSide): RunSide => ({
    end: { kind: end.kind, text: '', output: null },
    deeds: deeds.map(({ expect: _, content: __, ...deed }) => deed),
  })
  const expected = bare(rewriteSide(rewriting, own))
  if (compareSides(expected, bare(other)).kind === 'same') return null
  const isSame = (one: Deed) => (another: Deed) => one.step === another.step && one.target === another.target
  const missing = expected.deeds.findIndex((deed) => !other.deeds.some(isSame(deed)))
  if (missing !== -1) return `step "${own.deeds[missing]?.step}" is left out, or acts on something else`
  const added = other.deeds.find((deed) => !expected.deeds.some(isSame(deed)))
  if (added !== undefined) return `step "${added.step}" is one more`
  if (own.end.kind === other.end.kind) return 'its steps come in another order'
  return `it ends as "${[other.end.kind, other.end.text].filter((word) => word !== '').join(': ')}"`
}

/** A word, and what stays: moments, storages, ids of runs, numbers of steps, beginnings of ids. */
const PIECES = new RegExp(
  [
    String.raw`\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?`,
    String.raw`\bstorage_[abc]\b`,
    String.raw`\brun_[0-9a-z]{16,}\b`,
    String.raw`#\d+$`,
    String.raw`\b[a-z]{2,3}_(?=[A-Za-z0-9]*\d)`,
    String.raw`[\p{L}\p{M}\p{N}]+`,
  ].join('|'),
  'gu',
)
const WORD = /[\p{L}\p{M}\p{N}]+/gu
/** Tries before a word may share its replacement: short words have few. */
const MAX_TRIES = 2_000

/**
 * Replaces the words of texts, one by one. So a text that is composed of others stays composed of
 * their replacements, and equal texts stay equal. Different words stay different.
 */
export class WordRedactor {
  readonly #key: Uint8Array
  readonly #kept: ReadonlySet<string>
  readonly #known = new Map<string, string>()
  readonly #taken = new Set<string>()

  /** `kept`: texts whose words stay, in any case. Nobody can undo it without `key`. */
  constructor(key: Uint8Array, kept: Iterable<string>) {
    this.#key = key
    this.#kept = new Set([...kept].flatMap((text) => text.toLowerCase().match(WORD) ?? []))
  }

  /** Another text of the same form and length. Moments, storages and ids of runs stay. */
  redact(text: string): string {
    return text.replace(PIECES, (piece) => (/^[\p{L}\p{M}\p{N}]+$/u.test(piece) ? this.#replace(piece) : piece))
  }

  #replace(word: string): string {
    const low = word.toLowerCase()
    // A number of two digits tells nothing, and counts of code are such numbers.
    if (this.#kept.has(low) || /^\d{1,2}$/.test(low)) return word
    const known = this.#known.get(low) ?? this.#choose(low)
    if (low.length !== word.length) return known
    return known.replace(/./gs, (sign, at: number) => (isUpper(word.charAt(at)) ? sign.toUpperCase() : sign))
  }

  #choose(low: string): string {
    let found = ''
    for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
      found = this.#propose(low, attempt)
      if (found !== low && !this.#taken.has(found) && !this.#kept.has(found)) break
    }
    this.#taken.add(found)
    this.#known.set(low, found)
    return found
  }

  /** Digits become digits, and all else letters; a hash stays one. */
  #propose(low: string, attempt: number): string {
    const letters = /^[0-9a-f]{12,}$/.test(low) ? 'abcdef' : 'abcdefghijklmnopqrstuvwxyz'
    const bytes = this.#stream(`${attempt}\n${low}`)
    const pick = (signs: string) => signs.charAt((bytes.next().value ?? 0) % signs.length)
    return low.replace(/[\s\S]/g, (sign) => pick(/[0-9]/.test(sign) ? '0123456789' : letters))
  }

  *#stream(seed: string): Generator<number, undefined> {
    for (let block = 0; ; block++) yield* createHmac('sha256', this.#key).update(`${block}\n${seed}`).digest()
  }
}

function isUpper(sign: string): boolean {
  return sign !== sign.toLowerCase()
}
