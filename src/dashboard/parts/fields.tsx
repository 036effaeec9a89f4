import { ApiError } from '../api/client.ts'

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
  /** Its text at first. */
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
function textOf({ name, value, kind, options, isRequired }: Field, texts: Texts): string {
  const [first] = options ?? []
  const chosen = isRequired ? '' : typeof first === 'string' ? first : first?.[0]
  return texts[name] ?? value ?? chosen ?? (kind === 'json' ? '{}' : '')
}

export function Fields({
  fields,
  texts,
  set,
}: {
  fields: readonly Field[]
  texts: Texts
  set: (texts: Texts) => void
}) {
  return fields.map((field) => (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is inside
    <label key={field.name} className={field.kind === 'check' ? 'check' : undefined}>
      {field.kind !== 'check' && <Words of={field} />}
      <Control field={field} text={textOf(field, texts)} set={(text) => set({ ...texts, [field.name]: text })} />
      {field.kind === 'check' && <Words of={field} />}
    </label>
  ))
}

function Words({ of: { name, label = name, hint } }: { of: Field }) {
  return (
    <span>
      {label} {hint && <span className="quiet">{hint}</span>}
    </span>
  )
}

const TYPES = { number: 'number', integer: 'number', moment: 'datetime-local', secret: 'password' } as const

function Control({ field, text, set }: { field: Field; text: string; set: (text: string) => void }) {
  const { kind = 'text', options, isRequired = false, example, pattern, min, max } = field
  const change = ({ target }: { target: { value: string } }) => set(target.value)
  if (options) {
    return (
      <select required={isRequired} value={text} onChange={change}>
        {isRequired && <option value="">choose</option>}
        {options.map((option) => {
          const [value, words] = typeof option === 'string' ? [option, option] : option
          return (
            <option key={value} value={value}>
              {words}
            </option>
          )
        })}
      </select>
    )
  }
  if (kind === 'check') {
    return <input type="checkbox" checked={text === 'true'} onChange={({ target }) => set(String(target.checked))} />
  }
  if (kind === 'json' || kind === 'prose') return <textarea rows={6} className="mono" value={text} onChange={change} />
  const type = kind === 'text' ? 'text' : TYPES[kind]
  const bounds = { min, max, ...(type === 'number' && { step: kind === 'integer' ? 1 : 'any' }) }
  const hints = { placeholder: example, pattern, autoComplete: 'off' }
  return <input type={type} required={isRequired} value={text} {...bounds} {...hints} onChange={change} />
}

/** The values of a form by their names; an empty field has none. Throws {@link ApiError}. */
export function readFields(fields: readonly Field[], texts: Texts): Record<string, unknown> {
  const given = fields.map((field) => [field, textOf(field, texts).trim()] as const).filter(([, text]) => text !== '')
  return Object.fromEntries(given.map(([field, text]) => [field.name, readField(field, text)]))
}

function readField({ name, label = name, kind, value }: Field, text: string): unknown {
  if (kind === 'number' || kind === 'integer') return Number(text)
  if (kind === 'check') return text === 'true'
  if (kind === 'moment') return new Date(text).toISOString()
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

/** The fields of an object of plain values by its JSON Schema; null where it has another form. */
function fieldsOf(schema: unknown): Field[] | null {
  const { properties = {}, required = [] } = schema as { properties?: Record<string, Property>; required?: string[] }
  const fields = Object.entries(properties).map(([name, { type = '', enum: words, description }]): Field | null => {
    const kind = words ? { options: words.map(String) } : PLAIN[type]
    return kind ? { name, hint: description, isRequired: required.includes(name), ...kind } : null
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
