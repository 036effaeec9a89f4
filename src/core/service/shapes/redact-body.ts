import { createHmac } from 'node:crypto'
import { isPlainObject } from '../../json.ts'
import type { StorageSpellings } from '../storage.ts'
import type { Shape } from './shape.ts'
import { formatsOf } from './text-shape.ts'
import { isFieldName, listWords } from './write-schema.ts'

/** Formats whose texts tell of nobody. */
const HARMLESS: readonly string[] = ['moment', 'date', 'storage']

/**
 * A body with other texts of the same form and length. Equal texts stay equal under one key, also
 * within paths. Numbers, moments, storages and the words of enumerations stay.
 *
 * `shape` is what all bodies were folded into: it knows the enumerations. `spellings` are those of
 * the body's account.
 */
export function redactBody(body: unknown, shape: Shape, key: Uint8Array, spellings: StorageSpellings = {}): unknown {
  const redact = (value: unknown, at: Shape | undefined, name: string): unknown => {
    if (typeof value === 'string')
      return at?.texts && listWords(at.texts, name) ? value : redactText(value, key, spellings)
    if (Array.isArray(value)) return value.map((item) => redact(item, at?.lists?.items, name))
    if (!isPlainObject(value)) return value
    const entries = Object.entries(value).map(([each, item]) => {
      const inner = at?.objects?.kind === 'names' ? at.objects.names.get(each) : at?.objects?.values
      return [isFieldName(each) ? each : redactText(each, key), redact(item, inner, each)]
    })
    return Object.fromEntries(entries)
  }
  return redact(body, shape, '')
}

/** Another text of the same form and length; always the same for the same text and key. */
export function redactText(text: string, key: Uint8Array, spellings: StorageSpellings = {}): string {
  const formats: readonly string[] = formatsOf(text, spellings)
  if (formats.some((format) => HARMLESS.includes(format))) return text
  const isHex = formats.includes('hex') || formats.includes('uuid')
  const kept = keptBeginning(text, formats)
  // The ending of a file name stays, and the separators; each second part is one of these.
  const separator = text.includes('@') ? /([/?&=#])/ : /([/?&=#]|(?<=[^/.])\.[A-Za-z][A-Za-z0-9]{0,4}$)/
  const parts = text.slice(kept.length).split(separator)
  return kept + parts.map((part, n) => (n % 2 === 1 || part === '' ? part : replaceLetters(part, key, isHex))).join('')
}

function keptBeginning(text: string, formats: readonly string[]): string {
  const prefix = formats.find((format) => format.startsWith('id '))?.slice(3)
  return prefix ?? (formats.includes('url') ? (/^https?:\/\//.exec(text)?.[0] ?? '') : '')
}

/** Letters become letters and digits digits; other signs stay, letters beyond ASCII become `x`. */
function replaceLetters(text: string, key: Uint8Array, isHex: boolean): string {
  const bytes = streamOf(text, key)
  const pick = (signs: string) => signs.charAt((bytes.next().value ?? 0) % signs.length)
  const low = isHex ? 'abcdef' : 'abcdefghijklmnopqrstuvwxyz'
  return text.replace(/[a-z]|[A-Z]|[0-9]|\p{L}/gu, (sign) => {
    if (/[a-z]/.test(sign)) return pick(low)
    if (/[A-Z]/.test(sign)) return pick(low.toUpperCase())
    return /[0-9]/.test(sign) ? pick('0123456789') : 'x'.repeat(sign.length)
  })
}

/** Bytes without end that only the text and the key decide. */
function* streamOf(text: string, key: Uint8Array): Generator<number, undefined> {
  for (let block = 0; ; block++) yield* createHmac('sha256', key).update(`${block}\n${text}`).digest()
}
