import { Link } from 'wouter'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { urlOf } from '../../api/client.ts'
import { useApi, useList } from '../../api/use-api.ts'
import { CopyAs } from '../../parts/copy-as.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Choice, RANGES, Tabs } from '../../parts/find.tsx'
import { List } from '../../parts/list.tsx'
import { Empty } from '../../parts/messages.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { VerdictMark } from '../../parts/status.tsx'
import { Path } from '../../parts/text.tsx'
import { When } from '../../parts/when.tsx'
import { useFilters } from '../../state/filters.ts'
import { formatBytes, formatCount, shortId } from '../../words/format.ts'

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
  { title: 'Verdict', width: '150px', cell: ({ verdict }) => <VerdictMark verdict={verdict} /> },
  { title: 'Answer', width: '70px', className: 'number', cell: ({ status }) => status },
  {
    title: 'Endpoint',
    width: '110px',
    cell: ({ endpoint }) => endpoint ?? <span className="quiet">none</span>,
  },
  {
    title: 'Event',
    width: '160px',
    cell: ({ eventId, eventType }) =>
      eventId === null ? null : (
        <Link href={`/events/${encodeURIComponent(eventId)}`} title={eventId}>
          {eventType ?? <span className="mono">{shortId(eventId)}</span>}
        </Link>
      ),
  },
  { title: 'Subject', className: 'wide', cell: ({ subject }) => <Path text={subject} /> },
  {
    title: 'Size',
    width: '80px',
    className: 'number',
    cell: ({ bodyBytes }) => <span className="quiet">{bodyBytes === null ? '–' : formatBytes(bodyBytes)}</span>,
  },
  { title: 'Received', width: '92px', cell: ({ receivedAt }) => <When at={receivedAt} /> },
  {
    title: 'Why',
    width: '18%',
    className: 'wide',
    cell: ({ facts }) => <span className="quiet">{explain(facts)}</span>,
  },
]

/** The ledger: one row for each request to an endpoint. Never a body, never a signature. */
export default function Inbound() {
  const filters = useFilters()
  const query = { verdict: filters.read('verdict'), endpoint: filters.read('endpoint'), since: filters.read('since') }
  const deliveries = useList('GET /deliveries', { query })
  const endpoints = useApi('GET /endpoints', {})
  const names = endpoints.data?.items.map(({ name }): [string, string] => [name, name]) ?? []
  return (
    <div className="stack">
      <PageHead title="Inbound">
        <CopyAs cli="upshot deliveries list" url={urlOf('GET /deliveries', { query: query as never })} />
      </PageHead>
      <div className="row">
        <Tabs path="/inbound" name="verdict" values={VERDICTS} />
        <div className="row push">
          <Choice name="endpoint" label="Endpoint" values={[['', 'every endpoint'], ...names]} />
          <Choice name="since" label="Range of time" values={RANGES} />
        </div>
      </div>
      <List of={deliveries} empty={<NoDelivery />}>
        {(items) => (
          <DataTable
            label="Deliveries"
            columns={COLUMNS}
            rows={items}
            keyOf={({ id }) => id}
            isStale={deliveries.isPlaceholderData}
          />
        )}
      </List>
      <Dropped />
    </div>
  )
}

/** The computed facts of a delivery in words. */
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

function NoDelivery() {
  return (
    <Empty title="No request has come.">
      <p>Send a signed one through the whole way, from the outside in:</p>
      <code>upshot endpoints test main</code>
    </Empty>
  )
}
