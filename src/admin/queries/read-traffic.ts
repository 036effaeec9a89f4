import { type EventRecord, OWN_TYPES, type ServiceEvent } from '../../core/incoming/event.ts'
import { emptyShape, foldBody, type Shape } from '../../core/service/shapes/shape.ts'
import type { ReadStore } from '../../core/store/store.ts'

/** How far back the commands look unless told otherwise. */
export const TRAFFIC_MS = 30 * 24 * 60 * 60 * 1_000

/** Rows of one read: a few milliseconds each. */
const SLICE = { rows: 2_000, limit: 500 }

/** Which events to read. */
export interface TrafficChoice {
  /** Types or families; none: every type but our own. */
  types: readonly string[]
  /** Epoch milliseconds. */
  since: number
}

/** The events of a type, folded. */
export interface TypeTraffic {
  shape: Shape
  /** When the first and the last one came, in epoch milliseconds. */
  from: number
  to: number
}

/** Stored events with their `data`, newest first; those whose body is pruned are left out. */
export async function* readTraffic(
  store: Pick<ReadStore, 'searchEvents'>,
  { types, since }: TrafficChoice,
): AsyncGenerator<{ event: EventRecord; data: ServiceEvent['data'] }> {
  for (const type of types.length === 0 ? [undefined] : types) {
    for (let after: string | null = null; ; ) {
      const search = { since, ...(type === undefined ? {} : { type }) }
      const { items, next } = await store.searchEvents(search, { ...SLICE, after })
      for (const event of items) {
        if (event.body === '' || event.type.startsWith(OWN_TYPES)) continue
        yield { event, data: (JSON.parse(event.body) as ServiceEvent).data }
      }
      if (next === null) break
      after = next
    }
  }
}

/** The traffic by type, in order of the names. */
export async function foldTraffic(
  store: Pick<ReadStore, 'searchEvents'>,
  choice: TrafficChoice,
): Promise<Map<string, TypeTraffic>> {
  const found = new Map<string, TypeTraffic>()
  for await (const { event, data } of readTraffic(store, choice)) {
    const { type, receivedAt } = event
    const known = found.get(type) ?? { shape: emptyShape(), from: receivedAt, to: receivedAt }
    foldBody(known.shape, data)
    found.set(type, { ...known, from: Math.min(known.from, receivedAt), to: Math.max(known.to, receivedAt) })
  }
  return new Map([...found].sort(([one], [other]) => (one < other ? -1 : 1)))
}
