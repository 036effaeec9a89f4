import { ApiError } from '../api/api-error.ts'
import { localOf } from '../words/format.ts'

export interface Field {
  name: string
  /** Default: its name. */
  label?: string
  /** Quiet words behind the label. */
  hint?: string | undefined
  /** `moment` is a local time, given as ISO 8601 in UTC. Default `text`. */
  kind?: 'text' | 'number' | 'integer' | 'json' | 'prose' | 'check' | 'moment' | 'secret'
  /** Values to choose from, or pairs of a value and its words. */
  options?: readonly (string | readonly [string, string])[]
  /** Its text at first; of a `moment` ISO 8601, which stays as it is where nobody changes it. */
  value?: string
  isRequired?: boolean
  /** Words in an empty field. */
  example?: string | undefined
  /** A regular expression that its text has to match. */
  pattern?: string
  min?: number
  max?: number
}

/** The texts of a form by the names of their fields. A check that is on is `true`. */
export type Texts = Readonly<Record<string, string>>

/** The text of a field: as it was typed, or at first. */
export function textOf({ name, value, kind, options, isRequired }: Field, texts: Texts): string {
  const [first] = options ?? []
  const chosen = isRequired ? '' : typeof first === 'string' ? first : first?.[0]
  const own = value && kind === 'moment' ? localOf(value) : value
  return texts[name] ?? own ?? chosen ?? (kind === 'json' ? '{}' : '')
}

/** The values of a form by their names; an empty field has none. Throws {@link ApiError}. */
export function readFields(fields: readonly Field[], texts: Texts): Record<string, unknown> {
  const given = fields.map((field) => [field, textOf(field, texts).trim()] as const).filter(([, text]) => text !== '')
  return Object.fromEntries(given.map(([field, text]) => [field.name, readField(field, text)]))
}

function readField({ name, label = name, kind, value }: Field, text: string): unknown {
  if (kind === 'number' || kind === 'integer') return Number(text)
  if (kind === 'check') return text === 'true'
  if (kind === 'moment') return value && text === localOf(value) ? value : new Date(text).toISOString()
  if (kind === 'json') return readJson(label, text)
  return kind === 'prose' ? (text === value?.trim() ? value : text) : text
}

function readJson(label: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const detail = `${label}: ${error instanceof Error ? error.message : String(error)}`
    throw new ApiError({ status: 400, code: 'invalid_request', title: 'This is no JSON', detail })
  }
}

interface Property {
  type?: string
  enum?: readonly (string | number | boolean)[]
  description?: string
}

const PLAIN: Readonly<Record<string, Partial<Field>>> = {
  string: {},
  number: { kind: 'number' },
  integer: { kind: 'integer' },
  boolean: { options: ['true', 'false'] },
}

/** A choice that may be left out is left out, unless a person chooses. */
const NOT_GIVEN = ['', 'not given'] as const

/** The fields of an object of plain values by its JSON Schema; null where it has another form. */
function fieldsOf(schema: unknown): Field[] | null {
  const { properties = {}, required = [] } = schema as { properties?: Record<string, Property>; required?: string[] }
  const fields = Object.entries(properties).map(([name, { type = '', enum: words, description }]): Field | null => {
    const kind = words ? { options: words.map(String) } : PLAIN[type]
    if (!kind) return null
    const isRequired = required.includes(name)
    const options = kind.options && !isRequired ? [NOT_GIVEN, ...kind.options] : kind.options
    return { name, hint: description, isRequired, ...kind, ...(options && { options }) }
  })
  const known = fields.filter((field) => field !== null)
  return known.length > 0 && known.length === fields.length ? known : null
}

/** A form for a value by its JSON Schema: the fields, and the way from their values to it. */
export function formOf(schema: unknown): { fields: Field[]; valueOf: (values: Record<string, unknown>) => unknown } {
  const fields = fieldsOf(schema)
  if (fields === null) {
    return {
      fields: [{ name: 'answer', label: 'Answer', hint: 'as JSON', kind: 'json' }],
      valueOf: ({ answer }) => answer,
    }
  }
  const { properties = {} } = schema as { properties?: Record<string, Property> }
  const exact = ([name, value]: [string, unknown]) => {
    const { enum: words, type } = properties[name] ?? {}
    return [name, words?.find((word) => String(word) === value) ?? (type === 'boolean' ? value === 'true' : value)]
  }
  return { fields, valueOf: (values) => Object.fromEntries(Object.entries(values).map(exact)) }
}
