import { parse as parseMediaType } from 'content-type'
import { UpshotError } from '../../core/errors.ts'
import type { HookRecord } from '../../core/incoming/hook.ts'
import { isPlainObject, type JsonValue } from '../../core/json.ts'
import type { RawDelivery } from '../accept-delivery.ts'
import { readJson, readText } from '../read-event.ts'
import { ONLY_FIELD, typeOf } from './form-fields.ts'

interface ReadAnswer {
  value: unknown
  /** The same as JSON text. */
  text: string
}

/** The data of an answer: JSON, a form, or plain text. Null for any other type of content. */
export function readAnswer(
  { data }: Pick<HookRecord, 'data'>,
  { header, body }: Pick<RawDelivery, 'header' | 'body'>,
): ReadAnswer | UpshotError | null {
  const type = readType(header('content-type'), body)
  if (type === 'application/json') return readJson(body)
  if (type !== 'application/x-www-form-urlencoded' && type !== 'text/plain') return null
  const text = readText(body)
  if (text instanceof UpshotError) return text
  const value = type === 'text/plain' ? text : readForm(new URLSearchParams(text), data)
  return { value, text: JSON.stringify(value) }
}

/** An answer without content, as of `curl -X POST`, is an empty text. */
function readType(header: string | undefined, body: Buffer): string | null {
  if (header === undefined && body.length === 0) return 'text/plain'
  try {
    return parseMediaType(header ?? '').type
  } catch {
    return null
  }
}

/** Fields are text; where the schema asks for a number or a boolean, theirs is read as such. */
function readForm(form: URLSearchParams, schema: JsonValue): unknown {
  const properties = isPlainObject(schema) && isPlainObject(schema.properties) ? schema.properties : {}
  if (isPlainObject(schema) && schema.type !== undefined && schema.type !== 'object')
    return readField(form.get(ONLY_FIELD) ?? '', schema)
  const entries = [...new Set(form.keys())].flatMap((name): [string, unknown][] => {
    const [first = '', ...others] = form.getAll(name)
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (others.length > 0) return [[name, [first, ...others]]]
    // A browser sends a field that nobody filled in.
    if (first === '' && property !== undefined && typeOf(property) !== 'string') return []
    return [[name, readField(first, property)]]
  })
  return Object.fromEntries(entries)
}

function readField(text: string, property: unknown): unknown {
  const type = typeOf(property)
  if ((type === 'number' || type === 'integer') && text.trim() !== '' && Number.isFinite(Number(text)))
    return Number(text)
  if (type === 'boolean' && ['true', 'on', 'yes', '1'].includes(text)) return true
  return type === 'boolean' && ['false', 'off', 'no', '0'].includes(text) ? false : text
}
