import { EVENT_ROUTES } from '../../../admin/contract/resources/events.ts'
import { listCommand } from '../../operate/list-command.ts'
import { eventColumns } from './event-columns.ts'

/** `upshot events list`: the newest events first. */
export const define = listCommand(EVENT_ROUTES, 'GET /events', {
  flags: { q: 'text' },
  columns: eventColumns,
  empty: 'No event yet. Send one with "upshot trigger file.created".',
  noMatch: 'No event matches.',
  what: 'events',
})
