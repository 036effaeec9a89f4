import { isPlainObject } from '../../core/json.ts'
import { draw } from '../state/draw.ts'
import type { WireEntry } from '../storage/entry.ts'

/** The two forms of replies that the documents describe. */
export type WireForm = 'primary' | 'alternative'

/** An error before it is put into one of the two forms. */
export interface WireError {
  status: number
  code: string
  message: string
  /** Facts beyond the message, such as the parameter. */
  details: Record<string, string>
}

interface Pagination {
  page: number
  limit: number
  totalItems: number
  totalPages: number
}

/** The form of the n-th request: the setting, or for `mixed` a draw from the seed. */
export function decideForm(setting: WireForm | 'mixed', seed: number, n: number): WireForm {
  if (setting !== 'mixed') return setting
  return draw(seed, 'form', n) < 0.5 ? 'primary' : 'alternative'
}

export function wrapData(form: WireForm, data: object): object {
  const written = form === 'primary' ? data : snakeCased(data)
  return { ...successMark(form), data: written }
}

/** A success with a page of entries and the link to the next page. */
export function wrapList(
  form: WireForm,
  entries: WireEntry[],
  next: { pagination: Pagination | null; pageToken: string | null },
): object {
  if (form === 'alternative')
    return { ...successMark(form), data: { files: entries.map(alternativeEntry), next_page_token: next.pageToken } }
  return { ...successMark(form), data: entries, ...(next.pagination ? { pagination: next.pagination } : {}) }
}

/** A success with an entry and `more`, the four fields that only details have. */
export function wrapEntry(form: WireForm, entry: WireEntry, more: object): object {
  if (form === 'primary') return wrapData(form, { ...entry, ...more })
  return { ...successMark(form), data: { ...alternativeEntry(entry), ...snakeCased(more) } }
}

export function wrapError(form: WireForm, error: WireError): object {
  const { code, message, details } = error
  if (form === 'primary') return { success: false, error: { code, message, details } }
  const text = Object.entries(details).map(([name, value]) => `${name}: ${value}`)
  return { status: 'error', error: { code: ALTERNATIVE_CODES[code] ?? code, message, details: text.join('; ') } }
}

/** The reply with one unknown field added to every object, as a later version might send it. */
export function withUnknownFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withUnknownFields)
  if (!isPlainObject(value)) return value
  const fields = Object.entries(value).map(([name, field]) => [name, withUnknownFields(field)])
  return { ...Object.fromEntries(fields), addedInALaterVersion: { since: 'v1.9', flags: [true, null] } }
}

/** Codes that differ in the alternative form. */
const ALTERNATIVE_CODES: Record<string, string> = { invalid_request: 'invalid_parameter' }

function successMark(form: WireForm): object {
  return form === 'primary' ? { success: true } : { status: 'success' }
}

/** In the alternative form, folders also have a type and a size of 0. */
function alternativeEntry(entry: WireEntry): object {
  return snakeCased({ ...entry, mimeType: entry.mimeType ?? 'application/x-folder', size: entry.size ?? 0 })
}

function snakeCased(value: object): object {
  const renamed = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [renamed(name), field]))
}
