import { UpshotError } from '../../core/errors.ts'
import { isPlainObject, type JsonValue } from '../../core/json.ts'
import { readStdin, readText } from '../input/read-source.ts'

/**
 * The `data` of an event in a file, or in what is piped in (`-`): a whole event, or its data alone.
 */
export async function readEventData(source: string): Promise<Record<string, unknown>> {
  const text = source === '-' ? await readStdin('the event') : readText(source)
  const value = parseJson(text)
  if (!isPlainObject(value)) throw refuse(`${nameOf(source)} holds no JSON object.`)
  return isPlainObject(value.data) ? value.data : value
}

/**
 * A copy of `data` with each `data.a.b=value` applied: JSON where the value reads as JSON, else
 * text.
 */
export function setFields(data: Record<string, unknown>, assignments: readonly string[]): Record<string, unknown> {
  const copy = structuredClone(data)
  for (const assignment of assignments) setField(copy, assignment)
  return copy
}

function setField(data: Record<string, unknown>, assignment: string): void {
  const [, path, text] = /^data\.([^=]+)=(.*)$/s.exec(assignment) ?? []
  const names = path?.split('.') ?? []
  const last = names.pop()
  if (!last || text === undefined || [...names, last].some(isUnfit)) {
    throw refuse(`"${assignment}" sets no field. Write data.<field>=<value>, such as data.file.name=report.pdf.`)
  }
  let parent = data
  for (const name of names) {
    const child = parent[name]
    const next = isPlainObject(child) ? child : {}
    parent[name] = next
    parent = next
  }
  parent[last] = parseValue(text)
}

/** `__proto__` would reach into every object, and the receiver refuses it anyway. */
function isUnfit(name: string): boolean {
  return name === '' || name === '__proto__' || name === 'constructor'
}

/** `null` is a value too, so only what is no JSON stays text. */
function parseValue(text: string): JsonValue {
  const value = parseJson(text)
  return value === undefined ? text : value
}

/** Undefined for what is no JSON. */
function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function nameOf(source: string): string {
  return source === '-' ? 'Standard input' : `The file ${source}`
}

function refuse(message: string): UpshotError {
  return new UpshotError('invalid_request', message)
}
