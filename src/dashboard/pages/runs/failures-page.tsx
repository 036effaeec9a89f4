import { Link } from 'wouter'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { Act } from '../../parts/act.tsx'
import { Sparkline } from '../../parts/charts/gauges.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { ListPage } from '../../parts/list.tsx'
import { Empty } from '../../parts/messages.tsx'
import { Look } from '../../parts/text.tsx'
import { When } from '../../parts/when.tsx'
import { useMay } from '../../state/session.ts'
import { commandOf, countOf, formatCount } from '../../words/format.ts'
import { shortMessage } from '../../words/runs.ts'
import { lookOfFailure } from '../../words/states.ts'

type Group = AnswerOf<'GET /failures'>['items'][number]

const hrefOf = ({ id }: Pick<Group, 'id'>) => `/runs?group=${id}`

const COLUMNS: readonly Column<Group>[] = [
  { title: 'State', width: '110px', cell: ({ state, note }) => <Look look={lookOfFailure(state)} about={note} /> },
  { title: 'Runs', width: '64px', className: 'number', cell: ({ runs }) => formatCount(runs) },
  {
    title: 'Failure',
    className: 'wide',
    cell: ({ id, name, message }) => (
      <Link href={hrefOf({ id })} title={`${name}: ${message}`}>
        {shortMessage(message)}
      </Link>
    ),
  },
  {
    title: 'Workflow and step',
    width: '20%',
    className: 'wide quiet',
    cell: ({ workflow, step }) => `${workflow}${step === null ? '' : ` · ${step}`}`,
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

/** Failed runs by kind: the same workflow, step and error, without what differs from run to run. */
export default function FailuresPage() {
  const mayAct = useMay('operator')
  return (
    <ListPage
      title="Failures"
      path="/failures"
      of="GET /failures"
      filters={['q', 'workflow', 'since', 'until']}
      cli={(query) => commandOf('upshot runs summary', query, ['workflow', 'since', 'until'])}
      find={{ label: 'Search failures', placeholder: 'Words of the error · workflow:verify-transfer step:copy' }}
      range={{ usual: 'last 24 hours', hasEnd: true }}
      label="Kinds of failures"
      columns={mayAct ? [...COLUMNS, ACTIONS] : COLUMNS}
      keyOf={({ id }) => id}
      hrefOf={hrefOf}
      empty={
        <Empty title="No run failed in the last 24 hours.">
          <p>Look further back with the range of time above.</p>
        </Empty>
      }
    />
  )
}

function Decide({ group: { id, message } }: { group: Group }) {
  const params = { id }
  return (
    <span className="row">
      <Act
        label="Resolve…"
        about={`Resolve ${message}`}
        look="plain"
        title="Is this kind of failure resolved?"
        action="Mark as resolved"
        to="POST /failures/:id/resolve"
        given={(_, reason) => ({ params, body: { note: reason ?? null } })}
      >
        <p className="wrap">{message}</p>
        <p className="quiet">It opens again with the next failure of its kind.</p>
      </Act>
      <Act
        label="Snooze…"
        about={`Snooze ${message}`}
        look="plain"
        title="Hide this kind of failure for a day?"
        action="Snooze for a day"
        to="POST /failures/:id/snooze"
        given={(_, reason) => ({ params, body: { for: '1d', note: reason ?? null } })}
      >
        <p className="wrap">{message}</p>
      </Act>
    </span>
  )
}
