import { DELIVERY_ROUTES } from '../../../admin/contract/resources/deliveries.ts'
import { listCommand } from '../../operate/list-command.ts'
import { deliveryColumns } from './delivery-view.ts'

/** `upshot deliveries list`: the newest deliveries first. */
export const define = listCommand(DELIVERY_ROUTES, 'GET /deliveries', {
  columns: deliveryColumns,
  empty: `No delivery yet. Register the URL of "upshot endpoints list" at the service.
To try it without the service: upshot trigger file.created`,
  noMatch: 'No delivery matches.',
  after({ unlisted }) {
    const counts = unlisted.map(({ verdict, dropped }) => `${dropped.toLocaleString('en')} ${verdict}`)
    return counts.length === 0 ? [] : [`Not listed, because their rows were dropped or pruned: ${counts.join(', ')}.`]
  },
})
