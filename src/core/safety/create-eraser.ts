import { parseJson } from '../json.ts'

/** A text anywhere, in any case; or the path of a file, or of a folder and all below it. */
export interface Words {
  kind: 'text' | 'path'
  text: string
}

/** Stands where text was erased. */
const ERASED = '[erased]'

/** Shorter words would be found everywhere. */
export const MIN_CHARACTERS = 3

/** Finds words in texts of the database, as JSON spells them, too, and erases them. */
export interface Eraser {
  /** A part of each text that has the words, in lower case; null: there is none to look for. */
  hint: string | null
  isIn(text: string): boolean
  erase(text: string): string
  /** The same for a text that rows are told apart by. `code`: what stands for a match. */
  eraseName(text: string, code: (match: string) => string): string
}

/** Rows are told apart by letters and digits, which JSON never escapes. */
const LETTERS = /[a-z0-9]{2,}/g

/** Behind a path there is the end of its text, of its quotes or of its word. */
const PATH_ENDS = String.raw`(?=$|["'\\\])},;:\s])`
/** Names below a folder; a name may have spaces, and ends with its quotes or its line. */
const BELOW = String.raw`(?=\\?/)(?:\\?/[^"\\\]\n]*)+`
const PATH_BEGINS = String.raw`(?<![^\s"'\[({,:=])`

/** Signs that mean more than themselves in an expression. */
const SIGNS = /[.*+?^${}()|[\]\\/]/g

export function createEraser({ kind, text }: Words): Eraser {
  const spelled = [...new Set(spellingsOf(text))].map((each) => each.replace(SIGNS, '\\$&')).join('|')
  const whole = text.endsWith('/') ? text.slice(0, -1) : text
  const paths = [...new Set(spellingsOf(whole))].map((each) => each.replace(SIGNS, '\\$&')).join('|')
  const find =
    kind === 'text' ? new RegExp(spelled, 'gi') : new RegExp(`${PATH_BEGINS}(?:${paths})(?:${BELOW}|${PATH_ENDS})`, 'g')
  const hints = text.toLowerCase().match(LETTERS) ?? []
  return {
    hint: hints.sort((one, other) => other.length - one.length)[0] ?? null,
    isIn: (found) => found.search(find) >= 0,
    erase: (found) => eraseIn(found, find),
    eraseName: (found, code) => found.replace(find, (match) => `[erased ${code(match)}]`),
  }
}

/**
 * A text of JSON, or a number or word beside its texts. A text is matched in slices (`(?=(…))\1`).
 * One by one, the signs of a long text would overflow the stack of the expression.
 */
const PARTS = /"(?:(?=((?:[^"\\]|\\.){1,4096}))\1)*"|[^\s",:[\]{}]+/g

/** JSON stays JSON: a number that is erased becomes a text. */
function eraseIn(found: string, find: RegExp): string {
  const erased = found.replace(find, ERASED)
  if (isJson(erased) || !isJson(found)) return erased
  const still = found.replace(PARTS, (part) => {
    if (part.startsWith('"')) return part.replace(find, ERASED)
    return part.search(find) < 0 ? part : JSON.stringify(ERASED)
  })
  // Words that reach over several parts go in any case.
  return still.search(find) < 0 ? still : erased
}

function isJson(text: string): boolean {
  return parseJson(text) !== undefined
}

/** The text, and how JSON spells it: in a text, in JSON within a text, and in ASCII alone. */
function spellingsOf(text: string): string[] {
  const quote = (plain: string) => JSON.stringify(plain).slice(1, -1)
  const once = quote(text)
  const ascii = once.replace(/[^\0-\x7e]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
  const slashed = once.replaceAll('/', '\\/')
  return [text, once, quote(once), ascii, quote(ascii), slashed]
}
