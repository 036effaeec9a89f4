import { isPlainObject } from '../../json.ts'
import { emptyObjects, emptyShape, limitNames, MAX_DEPTH, type ObjectShape, type Shape, shapeOf } from './shape.ts'
import { foldText } from './text-shape.ts'

/** Adds a parsed JSON value to a shape, which it changes. */
export function foldBody(shape: Shape, value: unknown): Shape {
  return fold(shape, value, 0)
}

function fold(shape: Shape, value: unknown, depth: number): Shape {
  shape.seen++
  if (value === null) shape.nulls++
  else if (typeof value === 'string') shape.texts = foldText(shape.texts, value)
  else if (typeof value === 'boolean') shape.booleans++
  else if (typeof value === 'number' && Number.isFinite(value)) countNumber(shape, value)
  else if (depth === MAX_DEPTH || typeof value !== 'object') shape.opaque++
  else if (Array.isArray(value)) foldList(shape, value, depth)
  else if (isPlainObject(value)) shape.objects = foldObject(shape.objects ?? emptyObjects(), value, depth)
  return shape
}

function countNumber(shape: Shape, value: number): void {
  if (Number.isSafeInteger(value)) shape.integers++
  else shape.decimals++
}

function foldList(shape: Shape, values: readonly unknown[], depth: number): void {
  shape.lists ??= { seen: 0, items: emptyShape() }
  shape.lists.seen++
  for (const value of values) fold(shape.lists.items, value, depth + 1)
}

function foldObject(objects: ObjectShape, value: Record<string, unknown>, depth: number): ObjectShape {
  objects.seen++
  for (const [name, item] of Object.entries(value)) {
    fold(objects.kind === 'record' ? objects.values : shapeOf(objects.names, name), item, depth + 1)
  }
  return limitNames(objects)
}
