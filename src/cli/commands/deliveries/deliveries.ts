import { DELIVERY_ROUTES } from '../../../admin/contract/resources/deliveries.ts'
import { actCommand } from '../../operate/act-command.ts'
import { listCommand } from '../../operate/list-command.ts'
import { deliveryColumns } from './delivery-view.ts'

/** `upshot deliveries list`: the newest deliveries first. */
export const list = listCommand(DELIVERY_ROUTES, 'GET /deliveries', {
  columns: deliveryColumns,
  empty: `No delivery yet. Register the URL of "upshot endpoints list" at the service.
To try it without the service: upshot trigger file.created`,
  noMatch: 'No delivery matches.',
  after({ unlisted }) {
    const counts = unlisted.map(({ verdict, dropped }) => `${dropped.toLocaleString('en')} ${verdict}`)
    return counts.length === 0 ? [] : [`Not listed, because their rows were dropped or pruned: ${counts.join(', ')}.`]
  },
})

/** `upshot deliveries replay <id>`: sends the same bytes, newly signed. Exits with 7 if refused. */
export const replay = actCommand('POST /deliveries/:id/replay', {
  argument: ['id', 'id of an accepted delivery, dlv_…, or its beginning'],
  look: 'GET /deliveries/:id',
  isSlow: true,
  body: () => ({}),
  will: (id) => `send the bytes of ${id} again`,
  done({ event, endpoint, status, verdict, reason }) {
    const got = `${verdict ?? `refused with HTTP ${status}`}${reason === null ? '' : ` (${reason})`}`
    return verdict === 'duplicate'
      ? `The endpoint "${endpoint}" verified the bytes of ${event} and recognized them: duplicate.`
      : `The endpoint "${endpoint}" answered the bytes of ${event}: ${got}.`
  },
  note: ({ verdict }) => (verdict === 'duplicate' ? 'No run was started.' : null),
  leave: ({ verdict }) => (verdict === 'duplicate' ? null : 'difference'),
})
