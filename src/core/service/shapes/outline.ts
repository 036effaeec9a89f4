import { isPlainObject } from '../../json.ts'
import { aroundPlace, belowList, belowName, type Place } from './place.ts'
import { type Shape, valuesOf } from './shape.ts'
import { isFieldName, listNames, otherValues } from './write-schema.ts'

/** A type with more places than this is too varied to be followed. */
export const MAX_PLACES = 500

interface OutlinePlace {
  /** Sorted: `boolean`, `integer`, `list`, `null`, `number`, `object`, `text`, `unknown`. */
  kinds: string[]
  /** Whether an object above lacked it once. */
  isOptional: boolean
}

/** The places of a shape with their kinds, without any value. */
export type Outline = Record<Place, OutlinePlace>

export function outlineOf(shape: Shape): Outline {
  const outline: Outline = Object.create(null)
  const visit = (each: Shape, place: string, isOptional: boolean) => {
    if (each.seen === 0) return
    outline[place] = { kinds: kindsOf(each), isOptional }
    if (each.lists !== null) visit(each.lists.items, belowList(place), false)
    if (each.objects === null) return
    const names = listNames(each.objects, { withRare: true })
    if (names === null) visit(valuesOf(each.objects), belowName(place, '*'), false)
    else visit(otherValues(each.objects), belowName(place, '*'), false)
    for (const [name, inner] of names ?? []) visit(inner, belowName(place, name), inner.seen < each.objects.seen)
  }
  visit(shape, '', false)
  return outline
}

/** Two outlines as one. A place that is missing in an object of the other one is optional. */
export function mergeOutlines(one: Outline, other: Outline): Outline {
  const merged: Outline = Object.create(null)
  for (const place of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const [here, there] = [one[place], other[place]]
    const isMissing = (here === undefined && hasAround(one, place)) || (there === undefined && hasAround(other, place))
    merged[place] = {
      kinds: [...new Set([...(here?.kinds ?? []), ...(there?.kinds ?? [])])].sort(),
      isOptional: isMissing || here?.isOptional === true || there?.isOptional === true,
    }
  }
  return merged
}

/** The changes of `found` against `known`, as in `data.file.size: text, was integer`. */
export function compareOutlines(known: Outline, found: Outline): string[] {
  const changes = Object.entries(found).flatMap(([place, { kinds, isOptional }]) => {
    const before = known[place]
    const name = place === '' ? 'data' : `data.${place}`
    if (before === undefined) return hasAround(known, place) ? [`${name}: ${kinds.join(' or ')}, is new`] : []
    const other = kinds.filter(
      (kind) => !before.kinds.includes(kind) && !(kind === 'integer' && before.kinds.includes('number')),
    )
    return [
      ...(other.length === 0 ? [] : [`${name}: ${other.join(' or ')}, was ${before.kinds.join(' or ')}`]),
      ...(isOptional && !before.isOptional ? [`${name}: missing in some, was always there`] : []),
    ]
  })
  const missing = Object.entries(known).filter(
    ([place, { isOptional }]) => !isOptional && found[place] === undefined && hasAround(found, place),
  )
  return [...changes, ...missing.map(([place]) => `data.${place}: missing, was always there`)].sort()
}

/** Whether a body shows nothing new: the quick look, which most events pass. */
export function fitsOutline(outline: Outline, body: unknown): boolean {
  const required = requiredNames(outline)
  const fits = (value: unknown, place: Place): boolean => {
    if (!outline[place]?.kinds.includes(kindOf(value))) return false
    if (Array.isArray(value)) return value.every((item) => fits(item, belowList(place)))
    if (!isPlainObject(value)) return true
    const hasAll = required.get(place)?.every((name) => Object.hasOwn(value, name)) ?? true
    return (
      hasAll && Object.entries(value).every(([name, item]) => isFieldName(name) && fits(item, belowName(place, name)))
    )
  }
  return fits(body, '')
}

const knownRequired = new WeakMap<Outline, Map<Place, string[]>>()

/** The names that each object of a place has had so far. */
function requiredNames(outline: Outline): Map<Place, string[]> {
  const known = knownRequired.get(outline)
  if (known !== undefined) return known
  const required = new Map<Place, string[]>()
  for (const [place, { isOptional }] of Object.entries(outline)) {
    const around = aroundPlace(place)
    if (around === null || isOptional) continue
    const name = place.slice(around === '' ? 0 : around.length + 1)
    required.set(around, [...(required.get(around) ?? []), name])
  }
  knownRequired.set(outline, required)
  return required
}

function kindOf(value: unknown): string {
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? 'integer' : Number.isFinite(value) ? 'number' : 'unknown'
  if (typeof value === 'string') return 'text'
  if (typeof value === 'boolean') return 'boolean'
  return value === null ? 'null' : Array.isArray(value) ? 'list' : 'object'
}

/** Whether the object around a place is there. */
function hasAround(outline: Outline, place: Place): boolean {
  const around = aroundPlace(place)
  return around !== null && outline[around]?.kinds.includes('object') === true
}

function kindsOf({ nulls, booleans, integers, decimals, texts, lists, objects, opaque }: Shape): string[] {
  const kinds = {
    boolean: booleans,
    integer: integers,
    list: lists,
    null: nulls,
    number: decimals,
    object: objects,
    text: texts,
    unknown: opaque,
  }
  return Object.entries(kinds).flatMap(([kind, count]) => (count ? [kind] : []))
}
