import { useState } from 'react'
import { Link } from 'wouter'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { urlOf } from '../../api/client.ts'
import { useAction, useList } from '../../api/use-api.ts'
import { Sparkline } from '../../parts/charts/sparkline.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Choice, Find } from '../../parts/find.tsx'
import { List } from '../../parts/list.tsx'
import { Empty } from '../../parts/messages.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { When } from '../../parts/when.tsx'
import { useFilters } from '../../state/filters.ts'
import { useMay } from '../../state/session.ts'
import { countOf, formatCount } from '../../words/format.ts'

type Group = AnswerOf<'GET /failures'>['items'][number]

const RANGES: readonly [string, string][] = [
  ['', 'last 24 hours'],
  ['7d', 'last 7 days'],
  ['30d', 'last 30 days'],
]

const STATES = { open: 'failed', snoozed: 'waiting', resolved: 'completed' } as const
const GLYPHS = { open: '✗', snoozed: '◷', resolved: '✓' } as const

/** Failed runs by kind: the same workflow, step and error, without what differs from run to run. */
export default function FailuresPage() {
  const filters = useFilters()
  const since = filters.read('since')
  const query = { q: filters.read('q'), workflow: filters.read('workflow'), ...(since === '' ? {} : { since }) }
  const failures = useList('GET /failures', { query })
  const mayAct = useMay('operator')
  const columns = mayAct ? [...COLUMNS, ACTIONS] : COLUMNS
  return (
    <div className="stack">
      <PageHead title="Failures">
        <CopyAs cli="upshot runs summary" url={urlOf('GET /failures', { query: query as never })} />
      </PageHead>
      <div className="row">
        <div className="grow">
          <Find label="Search failures" placeholder="Words of the error · workflow:verify-transfer step:copy" />
        </div>
        <Choice name="since" label="Range of time" values={RANGES} />
      </div>
      <List of={failures} empty={<NoFailure since={since} />}>
        {(items) => (
          <DataTable
            label="Kinds of failures"
            columns={columns}
            rows={items}
            keyOf={({ id }) => id}
            hrefOf={({ lastRun }) => `/runs/${lastRun}`}
            isStale={failures.isPlaceholderData}
          />
        )}
      </List>
    </div>
  )
}

const COLUMNS: readonly Column<Group>[] = [
  {
    title: 'State',
    width: '110px',
    cell: ({ state, note }) => (
      <span className="status" data-state={STATES[state]} title={note ?? ''}>
        <span aria-hidden="true">{GLYPHS[state]}</span>
        {state}
      </span>
    ),
  },
  { title: 'Runs', width: '64px', className: 'number', cell: ({ runs }) => formatCount(runs) },
  {
    title: 'Failure',
    className: 'wide',
    cell: ({ id, name, message }) => (
      <Link href={`/runs?group=${id}`} title={`${name}: ${message}`}>
        {message}
      </Link>
    ),
  },
  {
    title: 'Workflow and step',
    width: '20%',
    className: 'wide',
    cell: ({ workflow, step }) => (
      <span className="quiet">
        {workflow}
        {step !== null && ` · ${step}`}
      </span>
    ),
  },
  {
    title: 'Trend',
    width: '112px',
    className: 'spare',
    cell: ({ trend, runs }) => <Sparkline counts={trend} label={`${countOf(runs, 'run')} over the time shown`} />,
  },
  { title: 'First', width: '88px', className: 'spare', cell: ({ firstAt }) => <When at={firstAt} /> },
  { title: 'Last', width: '88px', cell: ({ lastAt }) => <When at={lastAt} /> },
]

const ACTIONS: Column<Group> = {
  title: 'Decide',
  width: '172px',
  cell: (group) => (group.state === 'open' ? <Decide group={group} /> : <span className="quiet">{group.by}</span>),
}

function Decide({ group }: { group: Group }) {
  const [dialog, setDialog] = useState<'resolve' | 'snooze' | null>(null)
  const resolve = useAction('POST /failures/:id/resolve')
  const snooze = useAction('POST /failures/:id/snooze')
  const params = { id: group.id }
  const close = () => setDialog(null)
  return (
    <span className="row">
      <button type="button" className="plain" onClick={() => setDialog('resolve')}>
        Resolve…
      </button>
      <button type="button" className="plain" onClick={() => setDialog('snooze')}>
        Snooze…
      </button>
      {dialog === 'resolve' && (
        <Confirm
          title="Is this kind of failure resolved?"
          action="Mark as resolved"
          onClose={close}
          perform={(reason) => resolve.mutateAsync({ params, body: { note: reason ?? null, reason } })}
        >
          <p className="wrap">{group.message}</p>
          <p className="quiet">It opens again with the next failure of its kind.</p>
        </Confirm>
      )}
      {dialog === 'snooze' && (
        <Confirm
          title="Hide this kind of failure for a day?"
          action="Snooze for a day"
          onClose={close}
          perform={(reason) => snooze.mutateAsync({ params, body: { for: '1d', note: reason ?? null, reason } })}
        >
          <p className="wrap">{group.message}</p>
        </Confirm>
      )}
    </span>
  )
}

function NoFailure({ since }: { since: string }) {
  const range = RANGES.find(([value]) => value === since)?.[1] ?? 'this time'
  return <Empty title={`No run failed in the ${range}.`} />
}
