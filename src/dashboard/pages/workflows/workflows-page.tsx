import { useApi } from '../../api/use-api.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty, Loaded } from '../../parts/messages.tsx'
import { PageHead } from '../../parts/page.tsx'
import { hrefOfWorkflow, WorkflowLink } from '../../parts/text.tsx'
import { When } from '../../parts/when.tsx'
import { countOf } from '../../words/format.ts'
import { triggerOf, type Workflow } from '../../words/runs.ts'
import { TryEvent } from './event-matches.tsx'

const COLUMNS: readonly Column<Workflow>[] = [
  { title: 'Workflow', width: '260px', cell: ({ id }) => <WorkflowLink id={id} /> },
  { title: 'Starts on', className: 'wide', cell: triggerOf },
  {
    title: 'State',
    width: '210px',
    cell: ({ pausedAt, held }) =>
      pausedAt === null ? (
        <span className="quiet">on</span>
      ) : (
        <span className="status" data-state="waiting">
          ‖ paused, {countOf(held, 'run')} held
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
              hrefOf={({ id }) => hrefOfWorkflow(id)}
            />
          )
        }
      </Loaded>
    </div>
  )
}
