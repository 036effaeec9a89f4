import { describeError, UpshotError } from './errors.ts'

/** Any value that a row can hold as JSON text. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue }

/**
 * JSON text of a value. `undefined` becomes `null`, because an author's function may return
 * nothing. Throws `output_not_json`, naming the value by `what`, for what JSON refuses.
 */
export function toJson(value: unknown, what: string): string {
  try {
    return JSON.stringify(value === undefined ? null : value) ?? 'null'
  } catch (error) {
    throw new UpshotError(
      'output_not_json',
      `${what} is not JSON: ${describeError(error).message}. Use text, numbers, booleans, null, lists and objects.`,
    )
  }
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

/** Where a value does not fit its schema, with each place below `name`. */
export function describeIssues(name: string, { issues }: { issues: readonly Issue[] }): string {
  return issues.map(({ path, message }) => `${[name, ...path.map(String)].join('.')}: ${message}`).join('; ')
}

interface Issue {
  path: readonly PropertyKey[]
  message: string
}
