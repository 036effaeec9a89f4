import { useApi } from '../api/use-api.ts'
import { formatDuration } from '../words/format.ts'
import { type Run, tookMs, whyOf } from '../words/runs.ts'
import { ProgressBar } from './charts/progress-bar.tsx'
import { UsualBar } from './charts/usual-bar.tsx'
import { type Column, DataTable } from './data-table.tsx'
import { Status } from './status.tsx'
import { Path, RunLink, RunTags } from './text.tsx'
import { useNow, When } from './when.tsx'

const COLUMNS: readonly Column<Run>[] = [
  {
    title: 'Status',
    width: '116px',
    cell: ({ status, needsPerson }) => <Status status={status} needsPerson={needsPerson} />,
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
    cell: ({ subject, eventType, tags }) => <Subject text={subject ?? eventType} tags={tags} />,
  },
  { title: 'Made', width: '84px', cell: ({ createdAt }) => <When at={createdAt} /> },
  { title: 'Took', width: '76px', className: 'number', cell: (run) => <Took run={run} /> },
  {
    title: 'Why',
    width: '26%',
    className: 'wide',
    cell: (run) => (
      <span className="quiet" title={whyOf(run)}>
        {whyOf(run)}
      </span>
    ),
  },
]

function Subject({ text, tags }: { text: string | null; tags: Run['tags'] }) {
  return (
    <>
      <Path text={text} />
      <RunTags tags={tags} />
    </>
  )
}

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

/** Runs as rows. */
export function RunTable({
  runs,
  selection,
  isStale,
}: {
  runs: readonly Run[]
  selection?: { keys: ReadonlySet<string>; toggle: (key: string) => void }
  isStale?: boolean
}) {
  return (
    <DataTable
      label="Runs"
      columns={COLUMNS}
      rows={runs}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => `/runs/${id}`}
      {...(selection ? { selection } : {})}
      {...(isStale === undefined ? {} : { isStale })}
    />
  )
}
