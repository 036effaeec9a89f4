import { UpshotError } from '../../core/errors.ts'
import { isPlainObject, parseJson } from '../../core/json.ts'
import { readStdin, readText } from '../input/read-source.ts'

/** The `data` of an event, from a file or stdin (`-`) that holds a whole event or its data. */
export async function readEventData(source: string): Promise<Record<string, unknown>> {
  const text = source === '-' ? await readStdin('the event') : readText(source)
  const value = parseJson(text)
  if (!isPlainObject(value))
    throw refuse(`${nameOf(source)} does not hold a JSON object.`, 'Give a whole event, or its data, as a JSON object.')
  return isPlainObject(value.data) ? value.data : value
}

/** A copy of `data` with each `data.a.b=value` set. A value that is not JSON is text. */
export function setFields(data: Record<string, unknown>, assignments: readonly string[]): Record<string, unknown> {
  const copy = structuredClone(data)
  for (const assignment of assignments) setField(copy, assignment)
  return copy
}

function setField(data: Record<string, unknown>, assignment: string): void {
  const [, path, text] = /^data\.([^=]+)=(.*)$/s.exec(assignment) ?? []
  const names = path?.split('.') ?? []
  const last = names.pop()
  if (!last || text === undefined || [...names, last].some(isForbidden)) {
    throw refuse(`"${assignment}" sets no field.`, 'Write data.<field>=<value>, such as data.file.name=report.pdf.')
  }
  let parent = data
  for (const name of names) {
    const child = parent[name]
    const next = isPlainObject(child) ? child : {}
    parent[name] = next
    parent = next
  }
  const value = parseJson(text)
  parent[last] = value === undefined ? text : value
}

/** `__proto__` would change every object; the receiver refuses these names too. */
function isForbidden(name: string): boolean {
  return name === '' || name === '__proto__' || name === 'constructor'
}

function nameOf(source: string): string {
  return source === '-' ? 'Standard input' : `The file ${source}`
}

function refuse(message: string, fix: string): UpshotError {
  return new UpshotError('invalid_request', message, { fix })
}
