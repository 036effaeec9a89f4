import { UpshotError } from '../../../core/errors.ts'
import type { EventRecord } from '../../../core/incoming/event.ts'
import type { ReadStore } from '../../../core/store/store.ts'

/** The event with this id. Throws `not_found`, or `invalid_request` if accounts share the id. */
export async function findEvent(
  store: Pick<ReadStore, 'findEvents'>,
  { id, account }: { id: string; account: string | undefined },
): Promise<EventRecord> {
  const found = (await store.findEvents(id)).filter((event) => account === undefined || event.account === account)
  const [event, ...others] = found
  if (event === undefined) {
    const where = account === undefined ? 'in this data directory' : `of account "${account}"`
    throw new UpshotError('not_found', `There is no event ${id} ${where}.`, {
      details: { fix: 'List the events with "upshot events list".' },
    })
  }
  if (others.length === 0) return event
  const accounts = found.map((each) => each.account).join(', ')
  throw new UpshotError('invalid_request', `Several accounts have an event ${id}: ${accounts}.`, {
    details: { fix: 'Choose one with --account.' },
  })
}
