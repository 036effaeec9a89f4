import type { EventRecord, ServiceEvent } from '../../incoming/event.ts'
import { compareOutlines, fitsOutline, MAX_PLACES, mergeOutlines, type Outline, outlineOf } from './outline.ts'
import { emptyShape, foldBody } from './shape.ts'

/** Events of a type that are learned from before any change is told. */
export const LEARNED = 50

/** Types that are followed; what comes later is not. */
export const MAX_TYPES = 200

/** Changes of a type that are kept, newest first. */
const MAX_DRIFTS = 10

/** Lines of one change. */
const MAX_CHANGES = 10

export interface ShapeDrift {
  type: string
  account: string
  event: string
  /** When it came, in epoch milliseconds. */
  at: number
  /** At most 10 lines, such as `data.file.size: text, was integer`. */
  changes: string[]
}

interface TypeBook {
  /** Events that it was learned from: the first 50, and each that showed something new. */
  seen: number
  /** All of them as one; null for a type with more than 500 places, which is not followed. */
  outline: Outline | null
  drifts: ShapeDrift[]
}

/** The knowledge of all types, and up to which number each stream was read. */
export interface ShapeBook {
  read: Record<string, number>
  types: Record<string, TypeBook>
}

export const EMPTY_SHAPES: ShapeBook = { read: {}, types: {} }

/** The book after one more event, and the change that it brings, if one is to be told. */
export function takeEvent(book: ShapeBook, event: EventRecord): { book: ShapeBook; drift: ShapeDrift | null } {
  const { type, account, id, receivedAt, body } = event
  const known = Object.hasOwn(book.types, type) ? book.types[type] : undefined
  const isFull = known === undefined && Object.keys(book.types).length >= MAX_TYPES
  if (isFull || body === '' || known?.outline === null) return { book, drift: null }
  const { data } = JSON.parse(body) as ServiceEvent
  const { seen, outline, drifts } = known ?? { seen: 0, outline: null, drifts: [] }
  if (outline !== null && seen >= LEARNED && fitsOutline(outline, data)) return { book, drift: null }
  const found = outlineOf(foldBody(emptyShape(), data))
  const changes = outline === null || seen < LEARNED ? [] : compareOutlines(outline, found).slice(0, MAX_CHANGES)
  const drift = changes.length === 0 ? null : { type, account, event: id, at: receivedAt, changes }
  const merged = outline === null ? found : mergeOutlines(outline, found)
  const next: TypeBook = {
    seen: seen + 1,
    outline: Object.keys(merged).length > MAX_PLACES ? null : merged,
    drifts: drift === null ? drifts : [drift, ...drifts].slice(0, MAX_DRIFTS),
  }
  return { book: { ...book, types: { ...book.types, [type]: next } }, drift }
}
