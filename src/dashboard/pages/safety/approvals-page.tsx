import { Link } from 'wouter'
import { urlOf } from '../../api/client.ts'
import { useList } from '../../api/use-api.ts'
import { CopyAs } from '../../parts/copy-as.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Tabs } from '../../parts/find.tsx'
import { List } from '../../parts/list.tsx'
import { Empty } from '../../parts/messages.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Look } from '../../parts/status.tsx'
import { When } from '../../parts/when.tsx'
import { useFilters } from '../../state/filters.ts'
import { type Approval, describeVotes, lookOfApproval, nameApproval, sourceOf } from '../../words/approvals.ts'
import { formatBytes, formatCount } from '../../words/format.ts'
import { GuardPanel } from './guard-panel.tsx'

const STATUSES: readonly [string, string][] = [
  ['', 'Open'],
  ['approved', 'Approved'],
  ['denied', 'Denied'],
  ['expired', 'Expired'],
  ['withdrawn', 'Withdrawn'],
  ['all', 'All'],
]

/** Lists of effects and questions that wait for people, and the limits that made them wait. */
export default function ApprovalsPage() {
  const filters = useFilters()
  const status = filters.read('status')
  const query = { status: status === '' ? 'open' : status === 'all' ? '' : status, workflow: filters.read('workflow') }
  const approvals = useList('GET /approvals', { query })
  const command = `upshot approvals list${status === '' ? '' : ` --status ${status}`}`
  return (
    <div className="stack">
      <PageHead title="Approvals">
        <CopyAs cli={command} url={urlOf('GET /approvals', { query: query as never })} />
      </PageHead>
      <Tabs path="/approvals" name="status" values={STATUSES} />
      <List of={approvals} empty={<NothingHeld isOpen={status === ''} />}>
        {(items) => (
          <DataTable
            label="Approvals"
            columns={COLUMNS}
            rows={items}
            keyOf={({ id }) => id}
            hrefOf={({ id }) => `/approvals/${id}`}
            isStale={approvals.isPlaceholderData}
          />
        )}
      </List>
      {/* Below a list of unknown length, so that nothing jumps when it comes. */}
      {!approvals.isPending && <GuardPanel />}
    </div>
  )
}

const COLUMNS: readonly Column<Approval>[] = [
  { title: 'State', width: '116px', cell: ({ status }) => <Look look={lookOfApproval(status)} /> },
  {
    title: 'What',
    className: 'wide',
    cell: (approval) => (
      <Link href={`/approvals/${approval.id}`} title={nameApproval(approval)}>
        {nameApproval(approval)}
      </Link>
    ),
  },
  { title: 'Workflow', width: '17%', cell: (approval) => <span className="quiet">{sourceOf(approval)}</span> },
  { title: 'Runs', width: '64px', className: 'number', cell: ({ runs }) => formatCount(runs) },
  {
    title: 'Bytes',
    width: '84px',
    className: 'number',
    cell: ({ bytes, kind }) => <span className="quiet">{kind === 'guard' ? formatBytes(bytes) : '–'}</span>,
  },
  {
    title: 'People',
    width: '160px',
    className: 'spare',
    cell: (approval) => <span className="quiet">{describeVotes(approval)}</span>,
  },
  { title: 'Asked', width: '88px', cell: ({ openedAt }) => <When at={openedAt} /> },
  {
    title: 'Until',
    width: '88px',
    cell: ({ expiresAt, decidedAt, status }) => <When at={status === 'open' ? expiresAt : decidedAt} />,
  },
]

function NothingHeld({ isOpen }: { isOpen: boolean }) {
  if (!isOpen) return <Empty title="No approval fits this filter." />
  return (
    <Empty title="Nothing is held.">
      <p>A delete over a limit of the guard waits here, and so does the question of a step.</p>
    </Empty>
  )
}
