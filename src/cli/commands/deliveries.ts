import type { Command } from '@commander-js/extra-typings'
import { DELIVERY_ROUTES } from '../../admin/contract/resources/deliveries.ts'
import type { AnswerOf } from '../../admin/contract/routes.ts'
import { VERDICTS, type Verdict } from '../../core/incoming/delivery.ts'
import type { Cli } from '../command.ts'
import { call, type Operations } from '../open/operations.ts'
import { listCommand } from '../operate/list-command.ts'
import { formatBytes, formatMoment, formatText } from '../terminal/format-value.ts'
import type { Style } from '../terminal/output.ts'
import { type Column, formatFacts, formatTable, indented, type Layout } from '../terminal/table.ts'
import { EVENT_RUN_COLUMNS } from './runs/run-view.ts'

type ShownDelivery = AnswerOf<'GET /deliveries'>['items'][number]

export const DELIVERY_COLUMNS: Column<ShownDelivery>[] = [
  { title: 'DELIVERY', value: ({ id }) => id, isId: true },
  { title: 'RECEIVED', value: ({ receivedAt }) => formatMoment(receivedAt), cut: 'never' },
  { title: 'ENDPOINT', value: nameEndpoint, isMinor: true },
  {
    title: 'VERDICT',
    value: ({ verdict }) => verdict,
    cut: 'never',
    style: ({ verdict }) => styleVerdict(verdict),
  },
  { title: 'EVENT', value: ({ eventId }) => eventId, most: 60, least: 12, isId: true, isMinor: true },
  { title: 'SIZE', value: ({ bodyBytes }) => formatBytes(bodyBytes), align: 'right', isMinor: true },
  { title: 'WHY', value: describeRefusal, most: 80, least: 24 },
]

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

function nameEndpoint({ endpoint, isEndpointRemoved }: ShownDelivery): string | null {
  return isEndpointRemoved ? `${endpoint} (removed)` : endpoint
}

/** The color of a verdict: yellow for a conflict or a temporary refusal, red for other refusals. */
export function styleVerdict(verdict: Verdict): Style | null {
  if (verdict === 'accepted') return 'green'
  if (verdict === 'duplicate' || verdict === 'probe') return null
  return verdict === 'conflict' || VERDICTS[verdict].status === 503 ? 'yellow' : 'red'
}

/** The reason of a refusal in a few words; null for an accepted or repeated delivery. */
export function describeRefusal({ verdict, facts }: Pick<ShownDelivery, 'verdict' | 'facts'>): string | null {
  if (verdict === 'accepted' || verdict === 'duplicate') return null
  const { answered, reason, retiredAt, header, skewSeconds, contentType, contentLength } = facts
  const parts = [
    answered === undefined ? undefined : `of our own, answered as ${answered}`,
    retiredAt === undefined ? reason : `signed with a secret that was retired on ${retiredAt.slice(0, 10)}`,
    header,
    contentType,
    contentLength === undefined ? undefined : formatBytes(contentLength),
    skewSeconds === undefined ? undefined : `signed ${Math.abs(skewSeconds)} s ${skewSeconds < 0 ? 'ahead' : 'ago'}`,
  ].filter((part) => part !== undefined)
  return parts.length === 0 ? null : parts.join(', ')
}
