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
