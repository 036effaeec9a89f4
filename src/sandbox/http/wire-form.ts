import { isPlainObject } from '../../core/json.ts'
import { draw } from '../state/draw.ts'
import type { WireEntry } from '../storage/entry.ts'

/** Which of the two described forms one reply takes. */
export type WireForm = 'primary' | 'alternative'

/** An error of the API; each form writes it in its own way. */
export interface WireError {
  status: number
  code: string
  message: string
  /** What is known beyond the message, such as the parameter. */
  details: Record<string, string>
}

export interface Pagination {
  page: number
  limit: number
  totalItems: number
  totalPages: number
}

/** The form of the n-th request: as set, or, when mixed, drawn from the seed. */
export function decideForm(setting: WireForm | 'mixed', seed: number, n: number): WireForm {
  if (setting !== 'mixed') return setting
  return draw(seed, 'form', n) < 0.5 ? 'primary' : 'alternative'
}

/** Success around a single object. */
export function wrapData(form: WireForm, data: object): object {
  const written = form === 'primary' ? data : snakeCased(data)
  return { ...successMark(form), data: written }
}

/** Success around a list, with what leads to its next page. */
export function wrapList(
  form: WireForm,
  entries: WireEntry[],
  next: { pagination: Pagination | null; pageToken: string | null },
): object {
  if (form === 'alternative')
    return { ...successMark(form), data: { files: entries.map(alternativeEntry), next_page_token: next.pageToken } }
  return { ...successMark(form), data: entries, ...(next.pagination ? { pagination: next.pagination } : {}) }
}

/** A details entry: the fields of the list and the four that only details have. */
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

/**
 * The same reply as a later version of the service might send it: with a field more in every
 * object.
 */
export function withUnknownFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withUnknownFields)
  if (!isPlainObject(value)) return value
  const fields = Object.entries(value).map(([name, field]) => [name, withUnknownFields(field)])
  return { ...Object.fromEntries(fields), addedInALaterVersion: { since: 'v1.9', flags: [true, null] } }
}

/** Where the two forms name the same refusal differently. */
const ALTERNATIVE_CODES: Record<string, string> = { invalid_request: 'invalid_parameter' }

function successMark(form: WireForm): object {
  return form === 'primary' ? { success: true } : { status: 'success' }
}

/** In this form folders have a type and a size of 0, too. */
function alternativeEntry(entry: WireEntry): object {
  return snakeCased({ ...entry, mimeType: entry.mimeType ?? 'application/x-folder', size: entry.size ?? 0 })
}

function snakeCased(value: object): object {
  const renamed = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [renamed(name), field]))
}
