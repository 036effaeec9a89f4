import { Link } from 'wouter'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { urlOf } from '../../api/client.ts'
import { useList } from '../../api/use-api.ts'
import { CopyAs } from '../../parts/copy-as.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Choice, Find, RANGES } from '../../parts/find.tsx'
import { List } from '../../parts/list.tsx'
import { Empty } from '../../parts/messages.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Path } from '../../parts/text.tsx'
import { When } from '../../parts/when.tsx'
import { useFilters } from '../../state/filters.ts'
import { useMay } from '../../state/session.ts'
import { formatBytes, shortId } from '../../words/format.ts'
import { ReplayAll } from './replay-all.tsx'

type Event = AnswerOf<'GET /events'>['items'][number]

const COLUMNS: readonly Column<Event>[] = [
  {
    title: 'Type',
    width: '300px',
    cell: ({ id, type }) => (
      <Link href={`/events/${encodeURIComponent(id)}`}>
        {type} <span className="mono quiet">{shortId(id)}</span>
      </Link>
    ),
  },
  { title: 'Subject', className: 'wide', cell: ({ subject }) => <Path text={subject} /> },
  { title: 'Account', width: '110px', cell: ({ account }) => <span className="quiet">{account}</span> },
  { title: 'From', width: '90px', cell: ({ origin }) => <span className="quiet">{origin}</span> },
  {
    title: 'Size',
    width: '80px',
    className: 'number',
    cell: ({ bodyBytes, isPruned }) => <span className="quiet">{isPruned ? 'pruned' : formatBytes(bodyBytes)}</span>,
  },
  { title: 'Received', width: '92px', cell: ({ receivedAt }) => <When at={receivedAt} /> },
]

/** Events, newest first. */
export default function Events() {
  const filters = useFilters()
  const query = { q: filters.read('q'), type: filters.read('type'), since: filters.read('since') }
  const events = useList('GET /events', { query })
  const mayAct = useMay('operator')
  const type = query.type === '' ? '' : ` --type ${query.type}`
  const isFiltered = Object.values(query).some((value) => value !== '')
  return (
    <div className="stack">
      <PageHead title="Events">
        {isFiltered && mayAct && <ReplayAll filter={query} />}
        <CopyAs cli={`upshot events list${type}`} url={urlOf('GET /events', { query: query as never })} />
      </PageHead>
      <div className="row">
        <div className="grow">
          <Find label="Search events" placeholder="A word of the body, a path or an id" />
        </div>
        <Choice name="since" label="Range of time" values={RANGES} />
      </div>
      <List of={events} empty={<NoEvents isFiltered={isFiltered} />}>
        {(items) => (
          <DataTable
            label="Events"
            columns={COLUMNS}
            rows={items}
            keyOf={({ id, account }) => `${account} ${id}`}
            hrefOf={({ id }) => `/events/${encodeURIComponent(id)}`}
            isStale={events.isPlaceholderData}
          />
        )}
      </List>
    </div>
  )
}

function NoEvents({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No event fits these filters." />
  return (
    <Empty title="No event yet.">
      <p>The service tells of the first one when a file moves. Or make one of your own:</p>
      <code>upshot trigger transfer.completed</code>
    </Empty>
  )
}
