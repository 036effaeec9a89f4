/** Markup that is safe to send. Only {@link html} makes it. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type Content = Html | string | number | null | undefined | false | readonly Content[]

/** Makes markup from a template. Values are escaped, in text and in quoted attributes alike. */
export function html(strings: TemplateStringsArray, ...values: Content[]): Html {
  const rest = values.map((value, n) => toMarkup(value) + (strings[n + 1] ?? ''))
  return new Html((strings[0] ?? '') + rest.join(''))
}

function toMarkup(value: Content): string {
  if (value === null || value === undefined || value === false) return ''
  if (value instanceof Html) return value.text
  if (Array.isArray(value)) return value.map(toMarkup).join('')
  return escapeText(String(value))
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}

/** A character that steers a text, that nobody sees, or that looks like a space. */
const UNSEEN = String.raw`[[\p{Cc}\p{Z}\p{Default_Ignorable_Code_Point}]--[\u0020]]`
/** Made for the first name, for that takes 10 ms. */
let patterns: { pieces: RegExp; unseen: RegExp } | undefined

/**
 * Text of a user, such as a name, with a direction of its own. A character that is {@link UNSEEN}
 * is shown by its number, and a line breaks after a slash first.
 */
export function foreign(text: string): Html {
  return html`<bdi>${piecesOf(text).map(({ piece, isUnseen }) => (isUnseen ? mark(piece) : breakable(piece)))}</bdi>`
}

/** The same for an attribute or a question, which hold no markup. */
export function foreignPlain(text: string): string {
  const shown = piecesOf(text).map(({ piece, isUnseen }) => (isUnseen ? `⟨${numberOf(piece)}⟩` : piece))
  return `${FIRST_STRONG_ISOLATE}${shown.join('')}${POP_ISOLATE}`
}

/** JSON whose strings escape what steers; it means the same. */
export function foreignJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent) ?? ''
  return text.replace(/[\p{Zl}\p{Zp}\p{Bidi_Control}\u007F-\u009F]/gu, (character) => {
    return `\\u${hexOf(character)}`
  })
}

const FIRST_STRONG_ISOLATE = '\u2068'
const POP_ISOLATE = '\u2069'

function mark(character: string): Html {
  return html`<span class="mark" title="A character that nobody would see">${numberOf(character)}</span>`
}

function breakable(text: string): Html[] {
  return text.split(/(?<=\/)(?!$)/).map((part, index) => html`${index > 0 && html`<wbr>`}${part}`)
}

/** An emoji stays whole, whatever it is made of. */
function piecesOf(text: string): { piece: string; isUnseen: boolean }[] {
  patterns ??= {
    pieces: new RegExp(String.raw`(\p{RGI_Emoji}|${UNSEEN})`, 'v'),
    unseen: new RegExp(`^${UNSEEN}$`, 'v'),
  }
  const { pieces, unseen } = patterns
  return text.split(pieces).flatMap((piece) => (piece === '' ? [] : { piece, isUnseen: unseen.test(piece) }))
}

function numberOf(character: string): string {
  return `U+${hexOf(character).toUpperCase()}`
}

function hexOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')
}
