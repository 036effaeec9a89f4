import { isPlainObject } from '../../json.ts'
import type { StorageSpellings } from '../storage.ts'
import { foldText, mergeTexts, type TextShape } from './text-shape.ts'

/** Levels of a body that a shape tells apart; what lies deeper may be anything. */
const MAX_DEPTH = 12

/** Names of one object that are told apart; one with more is a record of one kind of value. */
export const MAX_NAMES = 500

/** The values at one place of many JSON bodies, counted. Their order changes nothing. */
export interface Shape {
  /** Values folded here, of any kind. */
  seen: number
  nulls: number
  booleans: number
  /** Whole numbers that JavaScript holds exactly. */
  integers: number
  /** All other finite numbers. */
  decimals: number
  texts: TextShape | null
  lists: ListShape | null
  objects: ObjectShape | null
  /** Values that are not looked into: numbers beyond all bounds, and what lies too deep. */
  opaque: number
}

interface ListShape {
  seen: number
  items: Shape
}

/** Objects with known names, or a record: any names, one shape of values. */
export type ObjectShape =
  | { kind: 'names'; seen: number; names: Map<string, Shape> }
  | { kind: 'record'; seen: number; values: Shape }

export function emptyShape(): Shape {
  return {
    seen: 0,
    nulls: 0,
    booleans: 0,
    integers: 0,
    decimals: 0,
    texts: null,
    lists: null,
    objects: null,
    opaque: 0,
  }
}

/** Adds what one shape has seen to another, which it changes. */
export function mergeShapes(into: Shape, from: Shape): Shape {
  into.seen += from.seen
  into.nulls += from.nulls
  into.booleans += from.booleans
  into.integers += from.integers
  into.decimals += from.decimals
  into.opaque += from.opaque
  if (from.texts !== null) into.texts = mergeTexts(into.texts, from.texts)
  if (from.lists !== null) {
    into.lists ??= { seen: 0, items: emptyShape() }
    into.lists.seen += from.lists.seen
    mergeShapes(into.lists.items, from.lists.items)
  }
  if (from.objects !== null) into.objects = mergeObjects(into.objects ?? emptyObjects(), from.objects)
  return into
}

function emptyObjects(): ObjectShape {
  return { kind: 'names', seen: 0, names: new Map() }
}

/** Adds the objects of one place to others, which it may change. */
export function mergeObjects(into: ObjectShape, from: ObjectShape): ObjectShape {
  const seen = into.seen + from.seen
  if (into.kind === 'record' || from.kind === 'record') {
    const values = mergeShapes(valuesOf(into), valuesOf(from))
    return { kind: 'record', seen, values }
  }
  into.seen = seen
  for (const [name, shape] of from.names) mergeShapes(shapeOf(into.names, name), shape)
  return limitNames(into)
}

/** The shape of a name, made where it is new. */
function shapeOf(names: Map<string, Shape>, name: string): Shape {
  const known = names.get(name)
  if (known !== undefined) return known
  const shape = emptyShape()
  names.set(name, shape)
  return shape
}

/** Turns an object of too many names into a record. */
function limitNames(objects: ObjectShape): ObjectShape {
  if (objects.kind === 'record' || objects.names.size <= MAX_NAMES) return objects
  return { kind: 'record', seen: objects.seen, values: valuesOf(objects) }
}

export function valuesOf(objects: ObjectShape): Shape {
  if (objects.kind === 'record') return objects.values
  const values = emptyShape()
  for (const shape of objects.names.values()) mergeShapes(values, shape)
  return values
}

/** Adds parsed JSON to a shape, which it changes; `spellings` are those of its account. */
export function foldBody(shape: Shape, value: unknown, spellings: StorageSpellings = {}): Shape {
  return fold(shape, value, spellings, 0)
}

function fold(shape: Shape, value: unknown, spellings: StorageSpellings, depth: number): Shape {
  shape.seen++
  if (value === null) shape.nulls++
  else if (typeof value === 'string') shape.texts = foldText(shape.texts, value, spellings)
  else if (typeof value === 'boolean') shape.booleans++
  else if (typeof value === 'number' && Number.isFinite(value)) countNumber(shape, value)
  else if (depth === MAX_DEPTH || typeof value !== 'object') shape.opaque++
  else if (Array.isArray(value)) foldList(shape, value, spellings, depth)
  else if (isPlainObject(value)) shape.objects = foldObject(shape.objects ?? emptyObjects(), value, spellings, depth)
  return shape
}

function countNumber(shape: Shape, value: number): void {
  if (Number.isSafeInteger(value)) shape.integers++
  else shape.decimals++
}

function foldList(shape: Shape, values: readonly unknown[], spellings: StorageSpellings, depth: number): void {
  shape.lists ??= { seen: 0, items: emptyShape() }
  shape.lists.seen++
  for (const value of values) fold(shape.lists.items, value, spellings, depth + 1)
}

function foldObject(
  objects: ObjectShape,
  value: Record<string, unknown>,
  spellings: StorageSpellings,
  depth: number,
): ObjectShape {
  objects.seen++
  for (const [name, item] of Object.entries(value)) {
    fold(objects.kind === 'record' ? objects.values : shapeOf(objects.names, name), item, spellings, depth + 1)
  }
  return limitNames(objects)
}
