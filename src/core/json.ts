import { describeError, isA, UpshotError } from './errors.ts'

/** Any value that a row can hold as JSON text. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue }

/**
 * JSON text of a value. `undefined` becomes `null`, because an author's function may return
 * nothing. Throws `output_not_json`, naming the value by `what`, for what JSON refuses or empties.
 */
export function toJson(value: unknown, what: string): string {
  let json: string
  try {
    json = JSON.stringify(value === undefined ? null : value) ?? 'null'
  } catch (error) {
    throw new UpshotError(
      'output_not_json',
      `${what} is not JSON: ${describeError(error).message}. Use text, numbers, booleans, null, lists and objects.`,
    )
  }
  if (json.includes('{}')) refuseEmptied(value, what)
  return json
}

/**
 * Of a Map, a Set or a promise, JSON makes `{}` without a word. An error becomes the same and
 * passes: in `Promise.allSettled` it may be so rare that no test shows it.
 */
function refuseEmptied(value: unknown, what: string): void {
  JSON.stringify(value, (key, inner: unknown) => {
    if (!isEmptied(inner)) return inner
    const name = inner.constructor?.name || '(without a name)'
    const where = key === '' ? 'is' : `holds "${key}", which is`
    const instead = INSTEAD[name] ?? 'an object with the fields that you need'
    const message = `${what} ${where} of class ${name}, and JSON keeps nothing of that. Use ${instead}.`
    throw new UpshotError('output_not_json', message)
  })
}

/** Code for an object of a built-in class. */
const INSTEAD: Readonly<Record<string, string>> = {
  Map: 'Object.fromEntries(map), or [...map]',
  Set: '[...set]',
  Promise: 'await promise',
}

function isEmptied(value: unknown): value is object {
  if (!isPlainObject(value) || isA(value, Error) || Object.keys(value).length > 0) return false
  const prototype = Object.getPrototypeOf(value)
  // An object of another realm is plain, too; a boxed number or text keeps its value.
  return prototype !== null && Object.getPrototypeOf(prototype) !== null && typeof value.valueOf() === 'object'
}

/** True for objects other than arrays and null. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value of a JSON text; undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The fields of the object that a JSON text is; none for any other text. */
export function parseFields(text: string): Record<string, unknown> {
  const value = parseJson(text)
  return isPlainObject(value) ? value : {}
}

/** Where a value does not fit its schema, with each place below `name`. */
export function describeIssues(name: string, { issues }: { issues: readonly Issue[] }): string {
  return listIssues(issues)
    .map(({ path, message }) => `${[name, ...path.map(String)].join('.')}: ${message}`)
    .join('; ')
}

/**
 * Issues that say what is wrong. A union has "Invalid input" alone: the issues of its one near part
 * are better. A record's key has issues of its own, too.
 */
export function listIssues(issues: readonly Issue[]): Issue[] {
  return issues.flatMap((issue) => {
    if (issue.keys) return issue.keys.map((key) => ({ path: [...issue.path, key], message: 'is not known' }))
    const near = issue.errors?.filter((part) => !part.some(isOfAnotherKind)) ?? []
    const below = (near.length === 1 ? near[0] : issue.code === 'invalid_key' && issue.issues) || []
    if (below.length === 0) return [issue]
    return listIssues(below).map((each) => ({ ...each, path: [...issue.path, ...each.path] }))
  })
}

function isOfAnotherKind({ code, path }: Issue): boolean {
  return path.length === 0 && (code === 'invalid_type' || code === 'invalid_value')
}

/** An issue of zod. */
interface Issue {
  path: readonly PropertyKey[]
  message: string
  code?: string | undefined
  /** Of a union: the issues of each part. */
  errors?: readonly (readonly Issue[])[]
  /** Of a strict object: the fields that it does not know. */
  keys?: readonly string[]
  /** Of a record's key. */
  issues?: readonly Issue[]
}
