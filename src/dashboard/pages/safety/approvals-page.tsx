import { Link } from 'wouter'
import type { Column } from '../../parts/data-table.tsx'
import { ListPage } from '../../parts/list.tsx'
import { Empty } from '../../parts/messages.tsx'
import { Look } from '../../parts/text.tsx'
import { When } from '../../parts/when.tsx'
import { type Approval, describeVotes, nameApproval, sourceOf } from '../../words/approvals.ts'
import { formatBytes, formatCount } from '../../words/format.ts'
import { lookOfApproval } from '../../words/states.ts'
import { GuardPanel } from './guard-panel.tsx'

const STATUSES: readonly [string, string][] = [
  ['', 'Open'],
  ['approved', 'Approved'],
  ['denied', 'Denied'],
  ['expired', 'Expired'],
  ['withdrawn', 'Withdrawn'],
  ['all', 'All'],
]

const hrefOf = ({ id }: Approval) => `/approvals/${id}`

const COLUMNS: readonly Column<Approval>[] = [
  { title: 'State', width: '116px', cell: ({ status }) => <Look look={lookOfApproval(status)} /> },
  {
    title: 'What',
    className: 'wide',
    cell: (approval) => (
      <Link href={hrefOf(approval)} title={nameApproval(approval)}>
        {nameApproval(approval)}
      </Link>
    ),
  },
  { title: 'Workflow', width: '17%', className: 'quiet', cell: sourceOf },
  { title: 'Runs', width: '64px', className: 'number', cell: ({ runs }) => formatCount(runs) },
  {
    title: 'Bytes',
    width: '84px',
    className: 'number quiet',
    cell: ({ bytes, kind }) => (kind === 'guard' ? formatBytes(bytes) : '–'),
  },
  { title: 'People', width: '160px', className: 'spare quiet', cell: describeVotes },
  { title: 'Asked', width: '88px', cell: ({ openedAt }) => <When at={openedAt} /> },
  {
    title: 'Until',
    width: '88px',
    cell: ({ expiresAt, decidedAt, status }) => <When at={status === 'open' ? expiresAt : decidedAt} />,
  },
]

/** Lists of effects and questions that wait for people, and the limits that made them wait. */
export default function ApprovalsPage() {
  return (
    <ListPage
      title="Approvals"
      path="/approvals"
      of="GET /approvals"
      filters={['status', 'workflow']}
      queryOf={(read) => {
        const status = read('status') || 'open'
        return { status: status === 'all' ? '' : status, workflow: read('workflow') }
      }}
      cli={({ status }) => `upshot approvals list${status === 'open' ? '' : ` --status ${status || 'all'}`}`}
      tabs={{ name: 'status', values: STATUSES }}
      label="Approvals"
      columns={COLUMNS}
      keyOf={({ id }) => id}
      hrefOf={hrefOf}
      empty={
        <Empty title="Nothing is held.">
          <p>A delete over a limit of the guard waits here, and so does the question of a step.</p>
        </Empty>
      }
    >
      <GuardPanel />
    </ListPage>
  )
}
