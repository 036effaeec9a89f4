import { setImmediate } from 'node:timers/promises'
import type { Publish } from '../core/notices.ts'
import { EMPTY_SHAPES, type ShapeBook, type ShapeDrift, takeEvent } from '../core/service/shapes/shape-book.ts'
import type { Store } from '../core/store/store.ts'

/** Events of one look, or of one commit: a few milliseconds. */
const EVENTS = 250

/** Older events that the first look of a stream learns from. */
const LEARNED_FROM = 1_000

type ShapeStore = Pick<Store, 'loadShapeBook' | 'saveShapeBook' | 'listMatchCursors' | 'listEventsAfter'>

/**
 * Looks at the events that came since, and publishes `event.drifted` for each that changes the
 * shape of its type. Of two processes that look at once, one saves and tells.
 */
export async function followShapes(
  store: ShapeStore,
  publish: Publish,
  mayGoOn: () => boolean = () => true,
): Promise<void> {
  const { newest } = await store.listMatchCursors()
  for (const [stream, upTo] of newest) {
    while (mayGoOn()) {
      const { book, version } = (await store.loadShapeBook()) ?? { book: EMPTY_SHAPES, version: 0 }
      const after = book.read[stream] ?? Math.max(0, upTo - LEARNED_FROM)
      if (after >= upTo) break
      const looked = await lookAt(store, book, { stream, after, upTo: Math.min(after + EVENTS, upTo) })
      if (!(await store.saveShapeBook(looked.book, version))) return
      for (const { at, ...drift } of looked.drifts) publish({ kind: 'event.drifted', ...drift })
      await setImmediate()
    }
  }
}

async function lookAt(
  store: Pick<Store, 'listEventsAfter'>,
  book: ShapeBook,
  range: { stream: number; after: number; upTo: number },
): Promise<{ book: ShapeBook; drifts: ShapeDrift[] }> {
  const drifts: ShapeDrift[] = []
  let next: ShapeBook = { ...book, read: { ...book.read, [range.stream]: range.upTo } }
  for (const event of await store.listEventsAfter({ ...range, types: null })) {
    const taken = takeEvent(next, event)
    next = taken.book
    if (taken.drift !== null) drifts.push(taken.drift)
  }
  return { book: next, drifts }
}

/** Indexes the files and ids that new events tell of; returns how many commits it took. */
export async function indexSubjects(
  store: Pick<Store, 'readSubjects' | 'saveSubjects'>,
  mayGoOn: () => boolean = () => true,
): Promise<number> {
  for (let saved = 0; ; saved++) {
    const batch = mayGoOn() ? await store.readSubjects(EVENTS) : null
    if (batch === null) return saved
    await store.saveSubjects(batch)
    await setImmediate()
  }
}
