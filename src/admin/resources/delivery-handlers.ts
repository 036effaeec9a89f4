import { UpshotError } from '../../core/errors.ts'
import { VERDICTS, type Verdict } from '../../core/incoming/delivery.ts'
import type { ReadStore } from '../../core/store/store.ts'
import type { DELIVERY_ROUTES } from '../contract/resources/deliveries.ts'
import type { Handlers } from '../perform/handler.ts'
import { decodePosition, wholePage } from '../queries/read-page.ts'
import { given, readMoment } from '../queries/read-query.ts'
import { requireDelivery } from '../queries/require-row.ts'
import { describeDeliveries } from '../views/run-view.ts'
import type { ResourceParts } from './parts.ts'

export function deliveryHandlers(parts: ResourceParts): Handlers<keyof typeof DELIVERY_ROUTES> {
  const { store, openLists } = parts
  return {
    async 'GET /deliveries'({ query, caller, now }) {
      const { limit, verdict, endpoint, since, after } = query
      const lists = await openLists()
      const filter = given({
        verdicts: readVerdicts(verdict),
        endpointId: endpoint === undefined ? undefined : await findEndpointId(lists, endpoint),
        since: readMoment(since, now),
        before: decodePosition(after, /^dlv_\w+$/),
      })
      const deliveries = await lists.listDeliveries({ ...filter, limit })
      const page = wholePage(deliveries, {
        limit,
        items: await describeDeliveries(lists, deliveries, caller),
        momentOf: ({ receivedAt }) => receivedAt,
      })
      // Dropped refusals are counted by verdict only.
      const isOfAll = verdict !== undefined && endpoint === undefined && since === undefined
      return { ...page, unlisted: isOfAll ? await listUnlisted(store, filter.verdicts ?? []) : [] }
    },
    'GET /deliveries/tallies': async () => ({ refusals: await store.tallyRefusals() }),
    async 'GET /deliveries/:id'({ params, caller }) {
      const { delivery, event } = await requireDelivery(store, params.id)
      const [view] = await describeDeliveries(store, [delivery], caller)
      if (view) return { ...view, account: event?.account ?? null }
      throw new UpshotError('internal', `Delivery ${params.id} has no view.`)
    },
  }
}

function readVerdicts(text: string | undefined): Verdict[] | undefined {
  const words = text?.split(',').map((word) => word.trim())
  return words?.flatMap((word) => (word === 'refused' ? REFUSED : [word as Verdict]))
}

const REFUSED = (Object.keys(VERDICTS) as Verdict[]).filter(
  (verdict) => VERDICTS[verdict].status !== 200 && verdict !== 'probe',
)

async function listUnlisted(store: Pick<ReadStore, 'tallyRefusals'>, verdicts: readonly Verdict[]) {
  const tally = await store.tallyRefusals()
  return tally.flatMap(({ verdict, dropped }) =>
    dropped > 0 && verdicts.includes(verdict) ? [{ verdict, dropped }] : [],
  )
}

/** The id of an endpoint, of one that is removed too: its deliveries stay. */
async function findEndpointId(store: Pick<ReadStore, 'listEndpointNames'>, name: string): Promise<string> {
  const found = (await store.listEndpointNames()).filter((endpoint) => endpoint.name === name || endpoint.id === name)
  const endpoint = found.find(({ removedAt }) => removedAt === null) ?? found.at(-1)
  if (endpoint) return endpoint.id
  throw new UpshotError('not_found', `There is no endpoint named "${name}", not even a removed one.`, {
    fix: 'List the endpoints with "upshot endpoints list".',
  })
}
