import { isPlainObject, type JsonValue } from '../../core/json.ts'

export interface FormField {
  name: string
  label: string
  /** The values to choose from; null: any text or number. */
  choices: readonly string[] | null
  type: 'text' | 'number'
  isRequired: boolean
}

/** The name of the field for an answer that is no object. */
export const ONLY_FIELD = 'answer'

/** The type that a JSON Schema names; null where it names none, or several. */
export function typeOf(schema: unknown): string | null {
  return isPlainObject(schema) && typeof schema.type === 'string' ? schema.type : null
}

/** The fields of an answer; null where a form cannot ask for it. */
export function listFields(schema: JsonValue): FormField[] | null {
  if (!isPlainObject(schema)) return []
  if (typeOf(schema) !== 'object') {
    const field = readField(ONLY_FIELD, schema, true)
    return field && [field]
  }
  const required = Array.isArray(schema.required) ? schema.required : []
  const properties = Object.entries(isPlainObject(schema.properties) ? schema.properties : {})
  const fields = properties.map(([name, property]) => ({
    isRequired: required.includes(name),
    field: readField(name, property, required.includes(name)),
  }))
  if (fields.some(({ field, isRequired }) => field === null && isRequired)) return null
  return fields.flatMap(({ field }) => field ?? [])
}

function readField(name: string, schema: unknown, isRequired: boolean): FormField | null {
  if (!isPlainObject(schema)) return null
  const label = typeof schema.description === 'string' ? schema.description : name
  const field = { name, label, isRequired, type: 'text', choices: null } as const
  const type = typeOf(schema)
  if (type === 'boolean') return { ...field, choices: ['true', 'false'] }
  const choices = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : null
  if (choices?.every((choice) => typeof choice === 'string')) return { ...field, choices }
  if (choices !== null) return null
  if (type === 'number' || type === 'integer') return { ...field, type: 'number' }
  return type === 'string' ? field : null
}
