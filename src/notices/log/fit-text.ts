import { createRequire } from 'node:module'
import type stringWidth from 'string-width'

/** The lines of a text in so many columns. */
export type Fit = (room: number) => string[]

/** Lines of a text that wraps; what is beyond is cut. */
const MAX_LINES = 5

/** A text of one line, cut at its end. */
export function onOneLine(text: string): Fit {
  return (room) => [cutEnd(oneLine(text), room)]
}

/** A text that is not cut, but goes on in further lines. */
export function wrapped(text: string): Fit {
  return (room) => wrapText(text, room, MAX_LINES)
}

/** Most code units a column on average: marks may be piled up on one letter. */
const UNITS_A_COLUMN = 32

const load = createRequire(import.meta.url)
/** ASCII, letters of Latin scripts, and the dashes and dots that we write. */
const PLAIN = /^[ -~\u00C0-\u024F–—…·]*$/

/**
 * Columns that a terminal shows a text in: wide characters take two, combining marks none. Plain
 * text has a column a character, and most commands never load the tables of Unicode.
 */
export function columnsOf(text: string): number {
  return PLAIN.test(text) ? text.length : (load('string-width').default as typeof stringWidth)(text)
}

/** The beginning of a text, with an ellipsis where it is longer than `room` columns. */
export function cutEnd(text: string, room: number): string {
  const near = text.slice(0, room * UNITS_A_COLUMN)
  if (near === text && columnsOf(text) <= room) return text
  return `${take(charactersOf(near), room - 1).join('')}…`
}

/** The end of a text, with an ellipsis: of a path the name is what differs. */
export function cutFront(text: string, room: number): string {
  const near = text.slice(-room * UNITS_A_COLUMN)
  if (near === text && columnsOf(text) <= room) return text
  return `…${take(charactersOf(near).reverse(), room - 1)
    .reverse()
    .join('')}`
}

/** Pads a text at its end to so many columns. */
export function padColumns(text: string, columns: number): string {
  return `${text}${' '.repeat(Math.max(0, columns - columnsOf(text)))}`
}

/**
 * Joins words into lines of at most `room` columns. A longer word has a line of its own, uncut: it
 * is an address or an id.
 */
export function wrapWords(words: readonly string[], room: number): string[] {
  const lines: string[] = []
  for (const word of words) {
    const last = lines.at(-1)
    if (last === undefined || columnsOf(last) + 1 + columnsOf(word) > room) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}

/** The lines of a text in `room` columns, at most `most`; what does not fit is cut. */
export function wrapText(text: string, room: number, most: number): string[] {
  const lines = wrapWords(oneLine(text.trim().replace(/[\t\n\r ]+/g, ' ')).split(' '), room)
  const shown = lines.length > most ? [...lines.slice(0, most - 1), lines.slice(most - 1).join(' ')] : lines
  return shown.map((line) => cutEnd(line, room))
}

/**
 * A text on one line that steers no terminal. A character that nobody sees is shown as its picture
 * or number: two names must not look alike. Those that shape an emoji or letters stay. So do
 * accents apart from their letters, for to Unicode both spellings are the same text.
 */
export function oneLine(text: string): string {
  if (PLAIN.test(text) && !text.endsWith(' ')) return text
  // Characters that steer a terminal, or look like nothing, like a space or like a mark of ours. It
  // is written here because Node takes 10 ms to read it, and only where a text needs it.
  const unseen =
    /\p{RGI_Emoji}|([[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Z}\u27e8\u2400-\u2426]--[\u0020]]|\u0020$)/gv
  return text.replace(unseen, (found, character?: string, at = 0) =>
    character === undefined || isShaping(text, at) ? found : mark(character),
  )
}

const STEERING = /[\u007F-\u009F\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

/** JSON of the same value, in which no text steers a terminal. JSON escapes other controls. */
export function escapeSteering(json: string): string {
  return json.replace(STEERING, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Unicode has pictures of the first 33 characters, and of the last one of ASCII. */
function mark(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code <= 0x20) return String.fromCodePoint(0x2400 + code)
  return code === 0x7f ? '\u2421' : `⟨U+${code.toString(16).padStart(4, '0')}⟩`
}

/** True for a joiner between two letters of a script in which it changes their shape. */
function isShaping(text: string, at: number): boolean {
  if (!/[\u200c\u200d]/u.test(text.charAt(at))) return false
  const letter = /[\p{scx=Arab}\p{scx=Deva}\p{scx=Beng}\p{scx=Gujr}\p{scx=Taml}\p{scx=Telu}\p{scx=Knda}\p{scx=Mlym}]/u
  return letter.test(text.charAt(at - 1)) && letter.test(text.charAt(at + 1))
}

/** Made for the first text that is not plain, for it takes 16 ms of processor time. */
let segmenter: Intl.Segmenter | undefined

function charactersOf(text: string): string[] {
  if (PLAIN.test(text)) return [...text]
  segmenter ??= new Intl.Segmenter()
  return Array.from(segmenter.segment(text), ({ segment }) => segment)
}

function take(characters: readonly string[], room: number): string[] {
  let left = room
  const end = characters.findIndex((character) => {
    left -= columnsOf(character)
    return left < 0
  })
  return end === -1 ? [...characters] : characters.slice(0, end)
}
