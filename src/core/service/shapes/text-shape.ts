import { z } from 'zod'

import { findStorage, type StorageSpellings } from '../storage.ts'

/** Distinct words of one place that are kept. */
const MAX_WORDS = 12

/** The form of a word of an enumeration; any other text could be a value of somebody. */
const WORD = /^[\w.-]{1,32}$/

export interface TextShape {
  seen: number
  formats: TextFormat[]
  /** Each word with its count; null where there are more than 12, or a text is no word. */
  words: Map<string, number> | null
}

export function foldText(texts: TextShape | null, text: string, spellings: StorageSpellings): TextShape {
  if (texts === null) {
    const words = WORD.test(text) ? new Map([[text, 1]]) : null
    return { seen: 1, formats: formatsOf(text, spellings), words }
  }
  texts.seen++
  if (texts.formats.length > 0 && !texts.formats.every((format) => fitsFormat(text, format, spellings)))
    texts.formats = texts.formats.filter((format) => fitsFormat(text, format, spellings))
  if (texts.words !== null) texts.words = addWord(texts.words, text)
  return texts
}

function addWord(words: Map<string, number>, text: string): Map<string, number> | null {
  const count = words.get(text)
  if (count === undefined && (words.size === MAX_WORDS || !WORD.test(text))) return null
  return words.set(text, (count ?? 0) + 1)
}

/** Adds texts of one place to others, which it may change. */
export function mergeTexts(into: TextShape | null, from: TextShape): TextShape {
  if (into === null) return { ...from, words: from.words && new Map(from.words) }
  into.seen += from.seen
  into.formats = into.formats.filter((format) => from.formats.includes(format))
  into.words = into.words && from.words && mergeWords(into.words, from.words)
  return into
}

function mergeWords(into: Map<string, number>, from: ReadonlyMap<string, number>): Map<string, number> | null {
  for (const [word, count] of from) into.set(word, (into.get(word) ?? 0) + count)
  return into.size > MAX_WORDS ? null : into
}

/** The forms that texts of one place may share: the code of a schema, and the same as a test. */
const FORMATS = {
  moment: format('z.iso.datetime({ offset: true })', z.iso.datetime({ offset: true }), /^\d{4}-\d\d-\d\dT/),
  date: format('z.iso.date()', z.iso.date(), /^\d{4}-\d\d-\d\d$/),
  url: format('z.url()', z.url(), /^https?:/),
  path: format(`z.string().startsWith('/')`, z.string(), /^\//),
  storage: {
    code: 'storageName',
    fits: (text: string, spellings: StorageSpellings) => findStorage(text, spellings) !== null,
  },
  uuid: format('z.guid()', z.guid(), /^[\da-f]{8}-/i),
  hex: format('z.hex().min(8)', z.hex(), /^[\da-f]{8}/i),
}

type PlainFormat = keyof typeof FORMATS

/** A form of a text; `id fil_` stands for ids that begin with `fil_`. */
export type TextFormat = PlainFormat | `id ${string}`

/** `begins` is what all such texts begin with: a look that costs less than the schema. */
function format(code: string, schema: z.ZodType, begins: RegExp): { code: string; fits(text: string): boolean } {
  return { code, fits: (text) => begins.test(text) && schema.safeParse(text).success }
}

const PLAIN = Object.keys(FORMATS) as PlainFormat[]

/** `spellings` are those of the account that the text came from; without them, our names count. */
export function formatsOf(text: string, spellings: StorageSpellings = {}): TextFormat[] {
  const formats: TextFormat[] = PLAIN.filter((each) => FORMATS[each].fits(text, spellings))
  const prefix = prefixOf(text)
  return prefix === null ? formats : [...formats, `id ${prefix}`]
}

function fitsFormat(text: string, format: TextFormat, spellings: StorageSpellings): boolean {
  return isId(format) ? prefixOf(text) === format.slice(3) : FORMATS[format].fits(text, spellings)
}

export function isId(format: TextFormat): format is `id ${string}` {
  return format.startsWith('id ')
}

/** The code of a zod schema for texts of this format. */
export function formatCode(format: TextFormat): string {
  return isId(format) ? `z.string().startsWith('${format.slice(3)}')` : FORMATS[format].code
}

/** The beginning that tells what an id is of, such as `fil_`. */
function prefixOf(text: string): string | null {
  return /^([a-z]{2,8}_)(?=\w*\d)[\w-]{6,}$/.exec(text)?.[1] ?? null
}
