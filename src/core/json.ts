/** What a row can hold. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue }

/** JSON text; `undefined` becomes null, as an author's function may return nothing. */
export function toJson(value: unknown): string {
  return JSON.stringify(value === undefined ? null : value) ?? 'null'
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
