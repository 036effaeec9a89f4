import { useApi } from '../api/use-api.ts'
import { formatDuration } from '../words/format.ts'
import { type Run, shortMessage, tookMs, whyOf } from '../words/runs.ts'
import { ProgressBar, UsualBar } from './charts/gauges.tsx'
import { type Column, DataTable } from './data-table.tsx'
import { hrefOfRun, Path, RunLink, RunTags, Status } from './text.tsx'
import { useNow, When } from './when.tsx'

export const RUNS: readonly Column<Run>[] = [
  {
    title: 'Status',
    width: '116px',
    cell: (run) => <Status of={run} />,
  },
  {
    title: 'Run',
    width: '22%',
    cell: (run) => (
      <>
        <RunLink run={run} />
        <ProgressBar run={run} isSmall />
      </>
    ),
  },
  {
    title: 'Subject',
    className: 'wide',
    cell: ({ subject, eventType, tags }) => (
      <>
        <Path text={subject ?? eventType} />
        <RunTags tags={tags} />
      </>
    ),
  },
  { title: 'Created', width: '84px', cell: ({ createdAt }) => <When at={createdAt} /> },
  { title: 'Took', width: '96px', className: 'number', cell: (run) => <Took run={run} /> },
  {
    title: 'Why',
    width: '18%',
    className: 'wide',
    cell: (run) => (
      <span className="quiet" title={whyOf(run)}>
        {shortMessage(whyOf(run))}
      </span>
    ),
  },
]

function Took({ run }: { run: Run }) {
  const now = useNow()
  const workflows = useApi('GET /workflows', {})
  const ms = tookMs(run, now)
  const usual = workflows.data?.items.find(({ id }) => id === run.workflow)?.usual
  return (
    <span className="quiet">
      {ms === null ? '–' : formatDuration(ms)}
      {ms !== null && usual && <UsualBar ms={ms} usual={usual} />}
    </span>
  )
}

export function RunTable({ runs }: { runs: readonly Run[] }) {
  return <DataTable label="Runs" columns={RUNS} rows={runs} keyOf={({ id }) => id} hrefOf={hrefOfRun} />
}
