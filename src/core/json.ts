/** Any value that a row can hold as JSON text. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue }

/**
 * JSON text of a value. `undefined` becomes `null`, because an author's function may return
 * nothing.
 */
export function toJson(value: unknown): string {
  return JSON.stringify(value === undefined ? null : value) ?? 'null'
}

/** True for objects other than arrays and null. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
