import { UpshotError } from '../../core/errors.ts'
import type { EventRecord } from '../../core/incoming/event.ts'
import type { ReadStore } from '../../core/store/store.ts'
import type { EVENT_ROUTES } from '../contract/events.ts'
import type { Handlers } from '../http/handler.ts'
import { describeDeliveries } from '../views/describe-deliveries.ts'
import { describeEvent, readData } from '../views/event-view.ts'
import { describeRuns } from '../views/run-view.ts'
import type { ResourceParts } from './parts.ts'
import { decodePosition, given, readMoment, wholePage } from './read-query.ts'

/** Deliveries and runs that are listed with one event. */
const MAX_OF_EVENT = 200

/** Events, with everything that came of one. */
export function eventHandlers({ store }: ResourceParts): Handlers<keyof typeof EVENT_ROUTES> {
  return {
    async 'GET /events'({ query, now, caller }) {
      const { type, since, until, after, limit } = query
      const before = decodePosition(after, /^\d{1,15}$/)
      const filter = given({ type, since: readMoment(since, now), until: readMoment(until, now) })
      const events = await store.listEvents({
        ...filter,
        ...(before === undefined ? {} : { before: Number(before) }),
        limit,
      })
      return wholePage(events, {
        limit,
        items: events.map((event) => describeEvent(event, caller)),
        positionOf: ({ seq }) => String(seq),
        momentOf: ({ receivedAt }) => receivedAt,
      })
    },
    async 'GET /events/:id'({ params, query, caller }) {
      const event = await requireEvent(store, params.id, query.account)
      const { id, account } = event
      const runs = await store.listRuns({ eventId: id, account, limit: MAX_OF_EVENT })
      return {
        ...describeEvent(event, caller),
        data: readData(event, caller),
        deliveries: await describeDeliveries(store, await store.listDeliveriesOf(event, MAX_OF_EVENT)),
        runs: await describeRuns(store, runs, caller),
      }
    },
  }
}

/** Throws `not_found`, and `conflict` where two accounts have the id and none is named. */
export async function requireEvent(
  store: Pick<ReadStore, 'findEvents'>,
  id: string,
  account: string | undefined,
): Promise<EventRecord> {
  const found = (await store.findEvents(id)).filter((event) => account === undefined || event.account === account)
  const [event, ...others] = found
  if (event === undefined) throw new UpshotError('not_found', `There is no event ${id}.`)
  if (others.length === 0) return event
  const accounts = found.map((each) => each.account).join(', ')
  throw new UpshotError('conflict', `Several accounts have an event ${id}.`, {
    details: { fix: `Add ?account= with one of: ${accounts}.` },
  })
}
