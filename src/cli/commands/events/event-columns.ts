import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { formatBytes, formatMoment } from '../../terminal/format-value.ts'
import type { Column } from '../../terminal/table.ts'

/** Columns of a table of events. */
export function eventColumns(now: number): Column<AnswerOf<'GET /events'>['items'][number]>[] {
  return [
    { title: 'EVENT', value: ({ id }) => id, most: 60, least: 20, isId: true },
    { title: 'TYPE', value: ({ type }) => type, least: 12 },
    { title: 'RECEIVED', value: ({ receivedAt }) => formatMoment(receivedAt, now), cut: 'never' },
    { title: 'ORIGIN', value: ({ origin }) => origin, isMinor: true },
    { title: 'ACCOUNT', value: ({ account }) => account },
    { title: 'SIZE', value: ({ bodyBytes }) => formatBytes(bodyBytes), align: 'right', isMinor: true },
  ]
}
