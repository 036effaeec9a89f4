import { EVENT_ROUTES } from '../../../admin/contract/resources/events.ts'
import { type ItemOf, listCommand } from '../../operate/list-command.ts'
import { tailCommand } from '../../operate/tail-command.ts'
import { formatBytes, formatMoment, formatText } from '../../terminal/format-value.ts'
import type { Column } from '../../terminal/table.ts'

export const EVENT_COLUMNS: Column<ItemOf<'GET /events'>>[] = [
  { title: 'EVENT', value: ({ id }) => id, most: 60, least: 20, isId: true },
  { title: 'TYPE', value: ({ type }) => type, least: 12 },
  { title: 'RECEIVED', value: ({ receivedAt }) => formatMoment(receivedAt), cut: 'never' },
  { title: 'ORIGIN', value: ({ origin }) => origin, isMinor: true },
  { title: 'ACCOUNT', value: ({ account }) => account },
  { title: 'SIZE', value: ({ bodyBytes }) => formatBytes(bodyBytes), align: 'right', isMinor: true },
]

export const list = listCommand(EVENT_ROUTES, 'GET /events', {
  flags: { q: 'text' },
  columns: EVENT_COLUMNS,
  empty: 'No event yet. Send one with "upshot trigger file.created".',
  noMatch: 'No event matches.',
  what: 'events',
})

/** `upshot events tail`: each event as it arrives, until Ctrl-C. */
export const tail = tailCommand('GET /events', {
  only: ['type', '--type <type>', 'only events of this exact type, such as file.created'],
  place: ({ seq }) => seq,
  line({ id, type, receivedAt, origin, account }) {
    const facts = formatText(`${id}  ${type}  ${origin}  ${account}`, 160)
    return `${formatMoment(receivedAt)}  ${facts}`
  },
})
