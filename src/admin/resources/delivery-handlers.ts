import { UpshotError } from '../../core/errors.ts'
import { VERDICTS, type Verdict } from '../../core/incoming/delivery.ts'
import type { ReadStore } from '../../core/store/store.ts'
import type { DELIVERY_ROUTES } from '../contract/deliveries.ts'
import type { Handlers } from '../http/handler.ts'
import { describeDeliveries } from '../views/describe-deliveries.ts'
import type { ResourceParts } from './parts.ts'
import { decodePosition, given, readMoment, wholePage } from './read-query.ts'

/** The ledger of deliveries. */
export function deliveryHandlers({ store }: ResourceParts): Handlers<keyof typeof DELIVERY_ROUTES> {
  return {
    async 'GET /deliveries'({ query, now }) {
      const { limit, verdict, endpoint, since, after } = query
      const filter = given({
        verdicts: readVerdicts(verdict),
        endpointId: endpoint === undefined ? undefined : await findEndpointId(store, endpoint),
        since: readMoment(since, now),
        before: decodePosition(after, /^dlv_\w+$/),
      })
      const deliveries = await store.listDeliveries({ ...filter, limit })
      return wholePage(deliveries, {
        limit,
        items: await describeDeliveries(store, deliveries),
        positionOf: ({ id }) => id,
        momentOf: ({ receivedAt }) => receivedAt,
      })
    },
    'GET /deliveries/tallies': async () => ({ refusals: await store.tallyRefusals() }),
    async 'GET /deliveries/:id'({ params }) {
      const found = await store.findDelivery(params.id)
      const [view] = found === null ? [] : await describeDeliveries(store, [found.delivery])
      if (view) return view
      throw new UpshotError('not_found', `There is no delivery ${params.id}, or retention has removed it.`)
    },
  }
}

function readVerdicts(text: string | undefined): Verdict[] | undefined {
  return text?.split(',').map((word) => {
    if (Object.hasOwn(VERDICTS, word)) return word as Verdict
    throw new UpshotError('invalid_request', `"${word}" is not a verdict.`, {
      details: { fix: `Use one or more of: ${Object.keys(VERDICTS).join(', ')}.` },
    })
  })
}

/** The id of an endpoint, of one that is removed too: its deliveries stay. */
async function findEndpointId(store: Pick<ReadStore, 'listEndpointNames'>, name: string): Promise<string> {
  const found = (await store.listEndpointNames()).filter((endpoint) => endpoint.name === name)
  const endpoint = found.find(({ removedAt }) => removedAt === null) ?? found.at(-1)
  if (endpoint) return endpoint.id
  throw new UpshotError('not_found', `There is no endpoint named "${name}".`)
}
