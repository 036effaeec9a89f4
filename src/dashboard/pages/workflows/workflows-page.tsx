import { Link } from 'wouter'
import { useApi } from '../../api/use-api.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty, Loaded } from '../../parts/messages.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { When } from '../../parts/when.tsx'
import { countOf } from '../../words/format.ts'
import { triggerOf, type Workflow } from '../../words/trigger.ts'
import { TryEvent } from './event-matches.tsx'

const COLUMNS: readonly Column<Workflow>[] = [
  {
    title: 'Workflow',
    width: '260px',
    cell: ({ id }) => <Link href={`/workflows/${encodeURIComponent(id)}`}>{id}</Link>,
  },
  { title: 'Starts on', className: 'wide', cell: (workflow) => triggerOf(workflow) },
  {
    title: 'State',
    width: '210px',
    cell: ({ pausedAt, held }) =>
      pausedAt === null ? (
        <span className="quiet">on</span>
      ) : (
        <span className="status" data-state="waiting">
          ⏸ paused, {countOf(held, 'run')} held
        </span>
      ),
  },
  { title: 'Loaded', width: '100px', cell: ({ loadedAt }) => <When at={loadedAt} /> },
]

/** All workflows. */
export default function Workflows() {
  const workflows = useApi('GET /workflows', {})
  return (
    <div className="stack">
      <PageHead title="Workflows" />
      <TryEvent />
      <Loaded of={workflows}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No workflow is loaded.">
              <p>A workflow is a module in the folder workflows/. This makes a project with the first one:</p>
              <code>upshot init</code>
            </Empty>
          ) : (
            <DataTable
              label="Workflows"
              columns={COLUMNS}
              rows={items}
              keyOf={({ id }) => id}
              hrefOf={({ id }) => `/workflows/${encodeURIComponent(id)}`}
            />
          )
        }
      </Loaded>
    </div>
  )
}
