import { Link } from 'wouter'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useApi } from '../../api/use-api.ts'
import { Act } from '../../parts/act.tsx'
import { Meter } from '../../parts/charts/gauges.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { ListPage } from '../../parts/list.tsx'
import { Empty, Loaded } from '../../parts/messages.tsx'
import { Card } from '../../parts/page.tsx'
import type { Field, Texts } from '../../parts/read-fields.ts'
import { Look } from '../../parts/text.tsx'
import { When } from '../../parts/when.tsx'
import { useMay } from '../../state/session.ts'
import { type Approval, describeVotes, nameApproval, sourceOf } from '../../words/approvals.ts'
import { commandOf, formatBytes, formatCount, STORAGES } from '../../words/format.ts'
import { lookOfApproval } from '../../words/states.ts'

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
    title: 'Size',
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
      cli={(query) =>
        commandOf('upshot approvals list', { ...query, status: query.status || 'all' }, ['status', 'workflow'])
      }
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

type Guard = AnswerOf<'GET /guard'>
type Use = Guard['use'][number]
type Stop = Guard['stops'][number]

const USE_COLUMNS: readonly Column<Use>[] = [
  { title: 'Scope', className: 'wide', cell: ({ scope }) => scope.replaceAll('/', ' ') },
  {
    title: 'Counts',
    width: '150px',
    className: 'quiet',
    cell: ({ class: kind, window }) => `${kind === 'approved' ? 'approved' : `${kind}s`}, 1 ${window}`,
  },
  {
    title: 'Used',
    width: '32%',
    cell: ({ scope, window, count, limit }) =>
      limit === null ? formatCount(count) : <Meter label={`${scope}, 1 ${window}`} value={count} most={limit} />,
  },
  { title: 'Size', width: '92px', className: 'number', cell: ({ bytes }) => formatBytes(bytes) },
]

/** The use of each limit on effects now, the stops in force, and the switch for them. */
function GuardPanel() {
  const guard = useApi('GET /guard', {})
  const mayAct = useMay('operator')
  const beside = (
    <>
      {mayAct && <StopEffects />}
      <CopyAs cli="upshot guard show" to="GET /guard" input={{}} />
    </>
  )
  return (
    <Card title="Guard" isPlain beside={beside}>
      <Loaded of={guard}>
        {({ isOn, use, stops }) => (
          <>
            {stops.map((stop) => (
              <StopNote key={`${stop.kind} ${stop.name}`} stop={stop} mayAct={mayAct} />
            ))}
            {!isOn && <p className="problem">The guard is off (UPSHOT_GUARD=off): no limit holds a delete.</p>}
            {use.length === 0 ? (
              <p className="quiet">Nothing was deleted in the last 24 hours.</p>
            ) : (
              <DataTable
                label="Use of the limits"
                columns={USE_COLUMNS}
                rows={use}
                keyOf={({ scope, class: kind, window }) => `${scope} ${kind} ${window}`}
              />
            )}
          </>
        )}
      </Loaded>
    </Card>
  )
}

const STOPPED = [
  ['all', 'everything'],
  ['workflow', 'one workflow'],
  ['account', 'one account'],
  ['storage', 'one storage'],
] as const

/**
 * Asks what to stop, and why: the runs that wait show the reason. Waits for no names: everything
 * can be stopped without one.
 */
function StopEffects() {
  const workflows = useApi('GET /workflows', {})
  const accounts = useApi('GET /accounts', {})
  const names: Readonly<Record<string, readonly string[]>> = {
    workflow: workflows.data?.items.map(({ id }) => id) ?? [],
    account: accounts.data?.items.map(({ name }) => name) ?? [],
    storage: STORAGES,
  }
  const fieldsOf = ({ kind = 'all' }: Texts): Field[] => [
    {
      name: 'kind',
      label: 'What',
      options: STOPPED.filter(([each]) => names[each]?.length !== 0),
    },
    // Another name for each kind, so that none keeps what was chosen for another.
    ...(kind === 'all' ? [] : [{ name: `${kind}`, label: 'Which', options: names[kind] ?? [] }]),
  ]
  return (
    <Act
      label="Stop effects…"
      look="danger"
      title="Stop effects"
      action="Stop them"
      isDangerous
      isReasonNeeded
      fields={fieldsOf}
      to="POST /effects/stop"
      given={({ kind, ...which }) => ({
        body: { kind: kind as Stop['kind'], name: String(which[String(kind)] ?? '') },
      })}
    >
      <p>
        From now on no delete and no step marked <code>once</code> begins, in any process and after a restart, until
        somebody resumes them.
      </p>
    </Act>
  )
}

function StopNote({ stop: { kind, name, since, actor, reason }, mayAct }: { stop: Stop; mayAct: boolean }) {
  const what = kind === 'all' ? 'All effects' : `Effects of the ${kind} ${name}`
  return (
    <div className="problem row">
      <p className="wrap grow">
        <strong>{what} are stopped</strong> since <When at={since} /> by {actor}: {reason}
      </p>
      {mayAct && (
        <Act
          label="Resume…"
          title={`Let ${what.toLowerCase()} go on?`}
          action="Resume"
          to="POST /effects/resume"
          given={{ body: { kind, name } }}
        >
          <p>The runs that it holds go on at once.</p>
        </Act>
      )}
    </div>
  )
}
