/** Every leaf of settings by its path, such as `receive.bodyBytes`. */
export function flattenSettings(value: unknown, path = ''): Map<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return new Map([[path, typeof value === 'string' ? value : JSON.stringify(value)]])
  }
  const entries = Object.entries(value).filter(([, part]) => part !== undefined)
  return new Map(entries.flatMap(([name, part]) => [...flattenSettings(part, path === '' ? name : `${path}.${name}`)]))
}
