/**
 * The shape of a value without its content. The name of its type replaces each text, number and
 * boolean; names of fields stay.
 */
export function maskValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskValue)
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, content]) => [name, maskValue(content)]))
  }
  return value === null ? null : `‹${typeof value}›`
}
