/**
 * `name=value` for each field, in quotes where the value has spaces; only the value for ids, whose
 * prefix names them.
 */
export function listFields(fields: Record<string, unknown>): string[] {
  return Object.entries(fields)
    .filter(([, value]) => value !== null && value !== undefined)
    .flatMap(([name, value]) => {
      if (value instanceof Date) return `${name}=${value.toISOString()}`
      if (Array.isArray(value)) return value.length === 0 ? '' : nameValue(name, value.join(', '))
      if (typeof value === 'object') return listFields(value as Record<string, unknown>)
      if (/^(run|delivery|event)$/.test(name)) return String(value)
      return nameValue(name, String(value))
    })
    .filter((text) => text !== '')
}

function nameValue(name: string, value: string): string {
  return `${name}=${/\s/.test(value) ? `"${value}"` : value}`
}
