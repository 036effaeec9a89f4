import { belowList, belowName, type Place } from './place.ts'
import { emptyShape, mergeShapes, type ObjectShape, type Shape, valuesOf } from './shape.ts'
import { formatCode, isId, type TextFormat, type TextShape } from './text-shape.ts'

/** Fewer texts prove neither a format nor an enumeration. */
const PROOF = 50

/** A word of an enumeration was seen at least this often, and so was a name in many objects. */
const REPEATED = 3

/** An object of more names, whose values are all alike, is a record. */
const MANY_NAMES = 50

/** Names whose texts are values of somebody, however few there are. */
const PRIVATE = /name|mail|token|secret|url|path|key|user|owner|title|phone|address/i

/** Names whose texts are storages, however few prove it. */
const STORAGE_NAME = /service|storage/i

/** Names whose texts may be ids with a common beginning. */
const ID_NAME = /(^i|I|_i)ds?$/

interface SchemaOptions {
  /** Places and kinds of fewer than this share of the values are left out, 0 to 1. Default 0. */
  minShare?: number
  /** Objects that one word tells apart, by their place; see `chooseUnions`. Default: none. */
  unions?: ReadonlyMap<Place, ShapeUnion>
}

/** Objects of one place by the words of one of their names. */
export interface ShapeUnion {
  /** The name that tells them apart. */
  by: string
  variants: readonly { words: readonly string[]; objects: ObjectShape }[]
}

/** The TypeScript expression of a zod schema that takes all that was folded into a shape. */
export function writeSchema(shape: Shape, { minShare = 0, unions = new Map() }: SchemaOptions = {}): string {
  return new SchemaWriter(minShare, unions).write(shape, { name: '', place: '', indent: '' })
}

/** Where in the body, and where in the text, a schema stands. */
interface Spot {
  /** The nearest name above. */
  name: string
  place: Place
  indent: string
}

class SchemaWriter {
  #minShare: number
  #unions: ReadonlyMap<Place, ShapeUnion>

  constructor(minShare: number, unions: ReadonlyMap<Place, ShapeUnion>) {
    this.#minShare = minShare
    this.#unions = unions
  }

  write(shape: Shape, spot: Spot): string {
    const counts = (count: number) => count > 0 && count >= shape.seen * this.#minShare
    if (shape.seen === 0 || counts(shape.opaque)) return 'z.unknown()'
    const { texts, lists, objects } = shape
    const kinds = [
      counts(shape.booleans) && 'z.boolean()',
      counts(shape.decimals) && 'z.number()',
      counts(shape.integers) && !counts(shape.decimals) && 'z.int()',
      texts && counts(texts.seen) && writeText(texts, spot.name),
      lists && counts(lists.seen) && `z.array(${this.write(lists.items, { ...spot, place: belowList(spot.place) })})`,
      objects && counts(objects.seen) && this.#writeObjects(objects, spot),
    ].filter((kind) => typeof kind === 'string')
    if (kinds.length === 0) return 'z.null()'
    const schema = kinds.length === 1 ? kinds[0] : `z.union([${kinds.join(', ')}])`
    return counts(shape.nulls) ? `${schema}.nullable()` : `${schema}`
  }

  #writeObjects(objects: ObjectShape, spot: Spot): string {
    const union = this.#unions.get(spot.place)
    if (union === undefined) return this.#writeObject(objects, spot)
    const indent = `${spot.indent}  `
    const variants = union.variants.map((variant) => {
      const known = { name: union.by, schema: writeWords(variant.words) }
      return `${indent}${this.#writeObject(variant.objects, { ...spot, indent }, known)},`
    })
    return [`z.discriminatedUnion('${union.by}', [`, ...variants, `${spot.indent}])`].join('\n')
  }

  #writeObject(objects: ObjectShape, spot: Spot, known?: { name: string; schema: string }): string {
    const names = listNames(objects)
    if (names === null) {
      const values = this.write(valuesOf(objects), { ...spot, place: belowName(spot.place, '*') })
      return `z.record(z.string(), ${values})`
    }
    const indent = `${spot.indent}  `
    const lines = names
      .filter(([, { seen }]) => seen >= objects.seen * this.#minShare)
      .map(([name, shape]) => {
        const place = belowName(spot.place, name)
        const isMissing = shape.seen < objects.seen * (1 - this.#minShare)
        const schema = name === known?.name ? known.schema : this.write(shape, { name, place, indent })
        const remark = describeRare(shape, objects.seen)
        return `${indent}${writeName(name)}: ${schema}${isMissing ? '.optional()' : ''},${remark}`
      })
    return lines.length === 0 ? 'z.looseObject({})' : ['z.looseObject({', ...lines, `${spot.indent}})`].join('\n')
  }
}

/**
 * The names of objects that are names of fields, in order; null where they are values themselves,
 * such as ids. A name that hardly any of many objects has is a field only `withRare`.
 */
export function listNames(objects: ObjectShape, { withRare = false } = {}): [string, Shape][] | null {
  if (objects.kind === 'record') return null
  const fields = [...objects.names].filter(([name]) => isFieldName(name))
  const isRare = ([, { seen }]: [string, Shape]) => objects.seen >= PROOF && seen < REPEATED
  const isListed = withRare && fields.filter(isRare).length <= MANY_NAMES
  const names = isListed ? fields : fields.filter((field) => !isRare(field))
  if (names.length === 0 && objects.names.size > 0) return null
  if (names.length > MANY_NAMES && new Set(names.map(([, shape]) => kindsOf(shape))).size === 1) return null
  return names.sort(([one], [other]) => (one < other ? -1 : 1))
}

/** The values under names that are values themselves, as one shape. */
export function otherValues(objects: ObjectShape): Shape {
  const others = emptyShape()
  if (objects.kind === 'names')
    for (const [name, shape] of objects.names) if (!isFieldName(name)) mergeShapes(others, shape)
  return others
}

/**
 * False for a name that looks like a value: an id, a path, an address or a date. Also for one that
 * each object inherits, such as `constructor`, which zod would read.
 */
export function isFieldName(name: string): boolean {
  return !(name in Object.prototype) && /^[A-Za-z_$][\w$-]{0,49}$/.test(name) && !/\d{4}/.test(name)
}

/** The kinds of value at a place, but null. */
function kindsOf({ booleans, integers, decimals, texts, lists, objects, opaque }: Shape): string {
  return [booleans, integers + decimals, texts, lists, objects, opaque].map(Boolean).join()
}

function writeText(texts: TextShape, name: string): string {
  const words = listWords(texts, name)
  if (words !== null) return writeWords(words)
  const isNamed = (format: TextFormat) => format === 'storage' && STORAGE_NAME.test(name)
  const isProven = (format: TextFormat) => texts.seen >= PROOF && (!isId(format) || ID_NAME.test(name))
  const format = texts.formats.find((each) => isNamed(each) || isProven(each))
  return format === undefined ? 'z.string()' : formatCode(format)
}

/** The words of a place that are an enumeration; null where they are not. */
export function listWords({ words, seen, formats }: TextShape, name: string): string[] | null {
  if (words === null || seen < PROOF || formats.length > 0 || PRIVATE.test(name)) return null
  return [...words.values()].every((count) => count >= REPEATED) ? [...words.keys()].sort() : null
}

function writeWords(words: readonly string[]): string {
  const texts = words.map((word) => `'${word}'`).join(', ')
  return words.length === 1 ? `z.literal(${texts})` : `z.enum([${texts}])`
}

function writeName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name}'`
}

function describeRare({ seen, nulls }: Shape, of: number): string {
  const parts = [seen < of ? `in ${count(seen)} of ${count(of)}` : '', nulls > 0 ? `null in ${count(nulls)}` : '']
  const text = parts.filter((part) => part !== '').join(', ')
  return text === '' ? '' : ` // ${text}`
}

function count(number: number): string {
  return number.toLocaleString('en-US')
}
