import { Link } from 'wouter'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useApi } from '../../api/use-api.ts'
import type { Column } from '../../parts/data-table.tsx'
import { ListPage } from '../../parts/list.tsx'
import { Empty } from '../../parts/messages.tsx'
import { hrefOfEvent, Look, Path } from '../../parts/text.tsx'
import { When } from '../../parts/when.tsx'
import { commandOf, formatBytes, formatCount, shortId } from '../../words/format.ts'
import { lookOfVerdict } from '../../words/states.ts'

type Delivery = AnswerOf<'GET /deliveries'>['items'][number]

/** Refusals that say that something is wrong with a signature, a clock or a sender. */
const REFUSED =
  'bad_signature,stale,unknown_endpoint,disabled,bad_json,too_large,wrong_type,incomplete,overloaded,draining'

const VERDICTS: readonly [string, string][] = [
  ['', 'All'],
  ['accepted', 'Accepted'],
  ['duplicate', 'Duplicate'],
  ['conflict', 'Conflict'],
  [REFUSED, 'Refused'],
  ['bad_signature,stale', 'Signature'],
  ['learning', 'Captured'],
]

const COLUMNS: readonly Column<Delivery>[] = [
  { title: 'Verdict', width: '172px', cell: ({ verdict }) => <Look look={lookOfVerdict(verdict)} /> },
  { title: 'Answer', width: '70px', className: 'number spare', cell: ({ status }) => status },
  { title: 'Endpoint', width: '110px', cell: ({ endpoint }) => endpoint ?? <span className="quiet">none</span> },
  {
    title: 'Event',
    width: '160px',
    cell: ({ eventId, eventType, account }) =>
      eventId !== null && (
        <Link href={hrefOfEvent({ id: eventId, account })} title={eventId}>
          {eventType ?? <span className="mono">{shortId(eventId)}</span>}
        </Link>
      ),
  },
  { title: 'Subject', className: 'wide', cell: ({ subject }) => <Path text={subject} /> },
  {
    title: 'Size',
    width: '80px',
    className: 'number quiet spare',
    cell: ({ bodyBytes }) => (bodyBytes === null ? '–' : formatBytes(bodyBytes)),
  },
  { title: 'Received', width: '92px', cell: ({ receivedAt }) => <When at={receivedAt} /> },
  { title: 'Why', width: '18%', className: 'wide quiet', cell: ({ facts }) => explain(facts) },
]

/** The ledger: one row for each request to an endpoint. Never a body, never a signature. */
export default function Deliveries() {
  const endpoints = useApi('GET /endpoints', {})
  const names = endpoints.data?.items.map(({ name }) => [name, name] as const) ?? []
  return (
    <ListPage
      title="Deliveries"
      noun="delivery"
      path="/deliveries"
      of="GET /deliveries"
      filters={['verdict', 'endpoint', 'since']}
      cli={(query) => commandOf('upshot deliveries list', query, ['verdict', 'endpoint', 'since'])}
      choices={[{ name: 'endpoint', label: 'Endpoint', values: [['', 'every endpoint'], ...names] }]}
      range={{ hasEnd: false }}
      tabs={{ name: 'verdict', values: VERDICTS }}
      label="Deliveries"
      columns={COLUMNS}
      keyOf={({ id }) => id}
      empty={
        <Empty title="No delivery yet.">
          <p>Send a signed one to an endpoint, as the service does:</p>
          <code>upshot endpoints test main</code>
        </Empty>
      }
    >
      <Dropped />
    </ListPage>
  )
}

function explain({ skewSeconds, header, reason, contentType }: Delivery['facts']): string {
  const parts = [
    reason?.replaceAll('_', ' '),
    header === undefined ? undefined : `header ${header}`,
    skewSeconds === undefined ? undefined : `clock ${Math.round(skewSeconds)} s off`,
    contentType,
  ]
  return parts.filter(Boolean).join(', ')
}

function Dropped() {
  const tallies = useApi('GET /deliveries/tallies', {})
  const dropped = tallies.data?.refusals.filter((tally) => tally.dropped > 0) ?? []
  if (dropped.length === 0) return null
  const words = dropped.map((tally) => `${tally.verdict.replaceAll('_', ' ')} ${formatCount(tally.dropped)}`)
  return <p className="quiet small">And refused requests that left no row: {words.join(', ')}.</p>
}
