/** Ids of Upshot and the sandbox, which differ in each repetition. */
const MADE_ID = /\b(?:[a-z]{3}_)?[0-9a-hjkmnp-tv-z]{23}\b/g

/** A copy whose ids are numbered: the first id becomes `id#1` wherever it occurs. */
export function maskIds(value: unknown): unknown {
  const names = new Map<string, string>()
  const mask = (text: string) =>
    text.replace(MADE_ID, (id) => {
      const name = names.get(id) ?? `id#${names.size + 1}`
      names.set(id, name)
      return name
    })
  const copy = (part: unknown): unknown => {
    if (typeof part === 'string') return mask(part)
    if (Array.isArray(part)) return part.map(copy)
    if (!isPlain(part)) return part
    return Object.fromEntries(Object.entries(part).map(([key, each]) => [mask(key), copy(each)]))
  }
  return copy(value)
}

function isPlain(part: unknown): part is Record<string, unknown> {
  return typeof part === 'object' && part !== null && Object.getPrototypeOf(part) === Object.prototype
}
