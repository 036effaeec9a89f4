import type { Command } from '@commander-js/extra-typings'
import { DELIVERY_ROUTES } from '../../../admin/contract/resources/deliveries.ts'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import type { Cli } from '../../command.ts'
import { call, type Operations } from '../../open/operations.ts'
import { listCommand } from '../../operate/list-command.ts'
import { formatBytes, formatMoment, formatText } from '../../terminal/format-value.ts'
import { formatFacts, formatTable, indented, type Layout } from '../../terminal/table.ts'
import { EVENT_RUN_COLUMNS } from '../runs/run-view.ts'
import { DELIVERY_COLUMNS, describeRefusal, styleVerdict } from './delivery-view.ts'

export const list = listCommand(DELIVERY_ROUTES, 'GET /deliveries', {
  columns: DELIVERY_COLUMNS,
  empty: `No delivery yet. Register the URL of "upshot endpoints list" at the service.
To try it without the service: upshot trigger file.created`,
  noMatch: 'No delivery matches.',
  after({ unlisted }) {
    const counts = unlisted.map(({ verdict, dropped }) => `${dropped.toLocaleString('en')} ${verdict}`)
    return counts.length === 0 ? [] : [`Not listed, because their rows were dropped or pruned: ${counts.join(', ')}.`]
  },
})

type Delivery = AnswerOf<'GET /deliveries/:id'>

interface Details {
  delivery: Delivery
  /** Null for a refused delivery. */
  event: AnswerOf<'GET /events/:id'> | null
}

export function show(command: Command, { out, project }: Cli): void {
  command.argument('<id>', 'id of the delivery, dlv_…, or its beginning').action((id) =>
    project.withOperations(async (operations) => {
      const delivery = await call(operations, 'GET /deliveries/:id', { params: { id } })
      const event = await readEvent(operations, delivery)
      const { runs = [], data: _, deliveries: __, ...facts } = event ?? {}
      out.result({ ...delivery, event: event && facts, runs }, () => formatDetails({ delivery, event }, out))
      if (event !== null) out.note(`Show the content of its event: upshot events show ${event.id}`)
    }),
  )
}

async function readEvent(operations: Operations, { eventId, account }: Delivery): Promise<Details['event']> {
  if (eventId === null || account === null) return null
  return call(operations, 'GET /events/:id', { params: { id: eventId }, query: { account } })
}

function formatDetails({ delivery, event }: Details, layout: Layout): string[] {
  const { paint } = layout
  const { facts, verdict } = delivery
  const style = styleVerdict(verdict)
  const lines = formatFacts([
    ['verdict', style === null ? verdict : paint(style, verdict)],
    ['why', describeRefusal(delivery)],
    ['endpoint', delivery.endpoint],
    ['received', formatMoment(delivery.receivedAt)],
    ['size', formatBytes(delivery.bodyBytes)],
    ['secret', facts.secret === undefined ? null : `matched number ${facts.secret}`],
    ['signed', facts.skewSeconds === undefined ? null : `${facts.skewSeconds} s before it arrived`],
    ['event', event && formatText(`${event.id}  ${event.type}, of account ${event.account}`, 300)],
  ])
  const table = formatTable(event?.runs ?? [], EVENT_RUN_COLUMNS, indented(layout))
  return [
    paint('bold', delivery.id),
    ...lines,
    ...(table.length === 0 ? [] : ['', ...table.map((line) => `  ${line}`)]),
  ]
}
