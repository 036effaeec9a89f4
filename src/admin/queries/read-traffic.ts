import { type EventRecord, OWN_TYPES, type ServiceEvent } from '../../core/incoming/event.ts'
import type { EventSearch } from '../../core/incoming/event-search.ts'
import type { ListReads } from '../../core/store/store.ts'

/** Rows of one read: a few milliseconds each. */
const SLICE = { rows: 2_000, limit: 500 }

/**
 * Stored events with their `data`, newest first. Those whose body is pruned are left out, and those
 * of our own types.
 */
export async function* readTraffic(
  store: Pick<ListReads, 'searchEvents'>,
  search: EventSearch,
): AsyncGenerator<{ event: EventRecord; data: ServiceEvent['data'] }> {
  for (let after: string | null = null; ; ) {
    const { items, next } = await store.searchEvents(search, { ...SLICE, after })
    for (const event of items) {
      if (event.body === '' || event.type.startsWith(OWN_TYPES)) continue
      yield { event, data: (JSON.parse(event.body) as ServiceEvent).data }
    }
    if (next === null) return
    after = next
  }
}
