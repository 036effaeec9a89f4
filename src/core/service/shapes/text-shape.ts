import { fitsFormat, formatsOf, type TextFormat } from './text-format.ts'

/** Distinct words of one place that are kept. */
const MAX_WORDS = 12

/** The form of a word of an enumeration; any other text could be a value of somebody. */
const WORD = /^[\w.-]{1,32}$/

/** The texts of one place. */
export interface TextShape {
  seen: number
  /** Formats that all texts have. */
  formats: TextFormat[]
  /** Each word with its count; null where there are more than 12, or a text is no word. */
  words: Map<string, number> | null
}

/** Adds one text. */
export function foldText(texts: TextShape | null, text: string): TextShape {
  if (texts === null) return { seen: 1, formats: formatsOf(text), words: WORD.test(text) ? new Map([[text, 1]]) : null }
  texts.seen++
  if (texts.formats.length > 0 && !texts.formats.every((format) => fitsFormat(text, format)))
    texts.formats = texts.formats.filter((format) => fitsFormat(text, format))
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
