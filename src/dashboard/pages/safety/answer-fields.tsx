import { ApiError } from '../../api/client.ts'

/** A field of an answer, as far as a form needs to know it. */
interface Property {
  type?: string
  enum?: readonly (string | number | boolean)[]
  description?: string
}

interface ObjectSchema {
  properties?: Record<string, Property>
  required?: readonly string[]
}

const PLAIN = new Set(['string', 'number', 'integer', 'boolean'])
/** The name of the one field that takes the whole answer as JSON. */
const WHOLE = ''

/** The fields of an answer of plain values; null where the answer has another form. */
function plainFields(schema: unknown): [string, Property][] | null {
  const fields = Object.entries((schema as ObjectSchema).properties ?? {})
  const isPlain = fields.every(([, { type, enum: words }]) => words !== undefined || PLAIN.has(type ?? ''))
  return fields.length > 0 && isPlain ? fields : null
}

interface FieldsParts {
  /** JSON Schema of the answer. */
  schema: unknown
  fields: Record<string, string>
  setFields: (fields: Record<string, string>) => void
}

/**
 * A form for the answer to a question; one of another form than plain fields is written as JSON.
 */
export function AnswerFields({ schema, fields, setFields }: FieldsParts) {
  const plain = plainFields(schema)
  const set = (name: string, value: string) => setFields({ ...fields, [name]: value })
  if (plain === null) {
    return (
      <label>
        Answer <span className="quiet">as JSON</span>
        <textarea rows={6} value={fields[WHOLE] ?? '{}'} onChange={(event) => set(WHOLE, event.target.value)} />
      </label>
    )
  }
  const isRequired = (name: string) => (schema as ObjectSchema).required?.includes(name) ?? false
  return plain.map(([name, property]) => (
    <div key={name} className="field">
      <label htmlFor={`answer-${name}`}>
        {name} {property.description && <span className="quiet">{property.description}</span>}
      </label>
      <Field
        id={`answer-${name}`}
        property={property}
        value={fields[name] ?? ''}
        isRequired={isRequired(name)}
        onChange={(value) => set(name, value)}
      />
    </div>
  ))
}

interface FieldParts {
  id: string
  property: Property
  value: string
  isRequired: boolean
  onChange: (value: string) => void
}

function Field({ id, property: { type, enum: words }, value, isRequired, onChange }: FieldParts) {
  const choices = words?.map(String) ?? (type === 'boolean' ? ['true', 'false'] : null)
  if (choices !== null) {
    return (
      <select id={id} required={isRequired} value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">choose</option>
        {choices.map((word) => (
          <option key={word}>{word}</option>
        ))}
      </select>
    )
  }
  const kind = type === 'string' ? 'text' : 'number'
  return (
    <input
      id={id}
      type={kind}
      step={type === 'integer' ? 1 : 'any'}
      required={isRequired}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}

/** The answer that a form holds. Throws {@link ApiError} for text that is no JSON. */
export function readAnswer(schema: unknown, fields: Record<string, string>): unknown {
  const plain = plainFields(schema)
  if (plain === null) return readJson(fields[WHOLE] ?? '{}')
  const given = plain.filter(([name]) => (fields[name] ?? '') !== '')
  return Object.fromEntries(given.map(([name, property]) => [name, readValue(property, fields[name] ?? '')]))
}

function readValue({ type, enum: words }: Property, text: string): unknown {
  const word = words?.find((each) => String(each) === text)
  if (word !== undefined) return word
  if (type === 'boolean') return text === 'true'
  return type === 'string' ? text : Number(text)
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    throw new ApiError({ status: 400, code: 'invalid_request', title: 'The answer is no JSON', detail })
  }
}
