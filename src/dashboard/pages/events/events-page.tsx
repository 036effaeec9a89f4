import { useLocation } from 'wouter'
import type { AnswerOf, InputOf } from '../../../admin/contract/routes.ts'
import { useApi } from '../../api/use-api.ts'
import { Act } from '../../parts/act.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { ListPage } from '../../parts/list.tsx'
import { Empty } from '../../parts/messages.tsx'
import { EventLink, hrefOfEvent, Path } from '../../parts/text.tsx'
import { When } from '../../parts/when.tsx'
import { useMay } from '../../state/session.ts'
import { commandOf, countOf, formatBytes, formatCount, givenOnly } from '../../words/format.ts'

type Event = AnswerOf<'GET /events'>['items'][number]

const COLUMNS: readonly Column<Event>[] = [
  { title: 'Type', width: '300px', cell: (event) => <EventLink event={event} /> },
  { title: 'Subject', className: 'wide', cell: ({ subject }) => <Path text={subject} /> },
  { title: 'Account', width: '110px', className: 'quiet', cell: ({ account }) => account },
  { title: 'Origin', width: '90px', className: 'quiet', cell: ({ origin }) => origin },
  {
    title: 'Size',
    width: '80px',
    className: 'number quiet',
    cell: ({ bodyBytes, isPruned }) => (isPruned ? 'pruned' : formatBytes(bodyBytes)),
  },
  { title: 'Received', width: '92px', cell: ({ receivedAt }) => <When at={receivedAt} /> },
]

/** Events, newest first. */
export default function Events() {
  const mayAct = useMay('operator')
  const workflows = useApi('GET /workflows', {})
  const types = new Set(workflows.data?.items.flatMap(({ eventTypes }) => eventTypes))
  return (
    <ListPage
      title="Events"
      path="/events"
      of="GET /events"
      filters={['q', 'type', 'since', 'until']}
      cli={(query) => commandOf('upshot events list', query, ['type', 'since', 'until'])}
      find={{
        label: 'Search events',
        placeholder: 'A word of the body, a path or an id · type:file.created',
        filters: { type: [...types], path: [], account: [], since: ['1h', '24h', '7d'], until: ['1h', '24h', '7d'] },
      }}
      range={{ hasEnd: true }}
      actions={(query, isFiltered) => mayAct && isFiltered && <ReplayAll filter={givenOnly(query)} />}
      label="Events"
      columns={COLUMNS}
      keyOf={({ id, account }) => `${account} ${id}`}
      hrefOf={hrefOfEvent}
      empty={
        <Empty title="No event yet.">
          <p>The service sends one when a file changes. Or make one of your own:</p>
          <code>upshot trigger transfer.completed</code>
        </Empty>
      }
    />
  )
}

/** New runs of all events of the filter, in the background; events received later are left out. */
function ReplayAll({ filter }: { filter: InputOf<'POST /events/replay'>['body']['filter'] }) {
  const workflows = useApi('GET /workflows', {})
  const [, go] = useLocation()
  const all = workflows.data?.items.map(({ id }) => id) ?? []
  return (
    <Act
      label="Replay all that match…"
      isDisabled={workflows.isPending}
      title="Replay all events that match?"
      action="Replay them"
      fields={[
        { name: 'workflow', label: 'Workflow', options: [['', 'all that the types start'], ...all] },
        { name: 'isDryRun', label: 'Only count what it would be', kind: 'check' },
      ]}
      to="POST /events/replay"
      given={({ workflow, isDryRun }) => ({
        body: { filter, isDryRun: isDryRun === true, ...(workflow !== undefined && { workflows: [String(workflow)] }) },
      })}
      then={({ isDryRun, total, runs, refused }) => {
        if (!isDryRun) return go('/system?tab=operations')
        return `${countOf(total, 'event')} would make ${countOf(runs, 'new run')}; ${formatCount(refused)} are refused.`
      }}
    >
      <p>
        Each event makes new runs, oldest first, 100 events a second. Effects happen again. The operation survives a
        crash and can be aborted; its progress is on the System page.
      </p>
    </Act>
  )
}
