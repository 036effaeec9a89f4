/** Short words of a run by name, such as `customer` and `acme`, by which people find it. */
export type Tags = Readonly<Record<string, string>>

/** A tag that a list of runs is narrowed to. */
export type Tag = [name: string, value: string]

/** A value of a tag, as an author gives it. */
export type TagValue = string | number | boolean

/** Most tags of a run. */
export const MAX_TAGS = 10
/** Most characters of a name, and of a value. */
const MAX_TAG_LENGTH = 64

const NAME = new RegExp(`^[A-Za-z][\\w.-]{0,${MAX_TAG_LENGTH - 1}}$`)
const CONTROL = /\p{Cc}/u

/** Why a name or a value cannot be a tag; null: it can. */
export function findTagFault(name: unknown, value: unknown): string | null {
  if (typeof name !== 'string' || !NAME.test(name)) {
    const rule = `must be a letter, then letters, digits, ".", "_" or "-", at most ${MAX_TAG_LENGTH} characters`
    return `the name ${show(name)} ${rule}`
  }
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return null
  if (typeof value !== 'string')
    return `the value of "${name}" must be text, a number or a boolean, not ${kindOf(value)}`
  const length = [...value].length
  if (length === 0) return `the value of "${name}" is empty`
  if (length > MAX_TAG_LENGTH)
    return `the value of "${name}" has ${length} characters, and at most ${MAX_TAG_LENGTH} fit`
  return CONTROL.test(value) || !value.isWellFormed()
    ? `the value of "${name}" has characters that no line can show`
    : null
}

/** The tags that an author's function returned. Null, undefined and empty text leave a tag out. */
export function readTags(given: unknown): Tags {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new Error(`it returned ${kindOf(given)}, not an object such as { customer: 'acme' }`)
  }
  const tags: Record<string, string> = {}
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === '') continue
    const fault = findTagFault(name, value)
    if (fault) throw new Error(fault)
    tags[name] = String(value)
  }
  const count = Object.keys(tags).length
  if (count > MAX_TAGS) throw new Error(`it returned ${count} tags, and a run has at most ${MAX_TAGS}`)
  return tags
}

/** Reads `customer=acme`; null where it is no tag. */
export function parseTag(text: string): Tag | null {
  const at = text.indexOf('=')
  const [name, value] = [text.slice(0, at), text.slice(at + 1)]
  return at < 0 || findTagFault(name, value) !== null ? null : [name, value]
}

/** Tags as people write them, by name: `customer=acme, region=eu`. */
export function formatTags(tags: Tags): string {
  return Object.entries(tags)
    .map(([name, value]) => `${name}=${value}`)
    .toSorted()
    .join(', ')
}

function kindOf(value: unknown): string {
  return value === null || value === undefined
    ? String(value)
    : Array.isArray(value)
      ? 'a list'
      : `a value of type ${typeof value}`
}

function show(name: unknown): string {
  return typeof name === 'string' ? JSON.stringify(name.slice(0, MAX_TAG_LENGTH)) : kindOf(name)
}
