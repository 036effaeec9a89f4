import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useApi } from '../../api/use-api.ts'
import { ActNow } from '../../parts/act.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Tabs } from '../../parts/find.tsx'
import { ListTable } from '../../parts/list.tsx'
import { Empty, Loaded } from '../../parts/messages.tsx'
import { PageHead } from '../../parts/page.tsx'
import { When } from '../../parts/when.tsx'
import { useFilters } from '../../state/filters.ts'
import { useMay } from '../../state/session.ts'
import { countOf, formatCount } from '../../words/format.ts'
import { Access } from './access.tsx'
import { Alerts } from './alerts.tsx'
import { Health } from './health.tsx'
import { Retention } from './retention.tsx'

/** The tabs, with the role that each asks for. */
const TABS = [
  ['', 'Health', 'viewer', Health],
  ['operations', 'Operations', 'viewer', Operations],
  ['alerts', 'Alerts', 'viewer', Alerts],
  ['audit', 'Audit', 'viewer', Audit],
  ['accounts', 'Accounts', 'viewer', Accounts],
  ['retention', 'Retention', 'viewer', Retention],
  ['config', 'Config', 'operator', Settings],
  ['access', 'Access', 'admin', Access],
] as const

/** The app itself: what runs, who may, and who did what. */
export default function System() {
  const tab = useFilters().read('tab')
  const may = { viewer: true, operator: useMay('operator'), admin: useMay('admin') }
  const shown = TABS.filter(([, , role]) => may[role])
  const Chosen = shown.find(([name]) => name === tab)?.[3]
  return (
    <div className="stack">
      <PageHead title="System" />
      <Tabs path="/system" name="tab" values={shown.map(([name, word]) => [name, word])} />
      {Chosen ? <Chosen /> : <Empty title="There is no such tab, or your role does not see it." />}
    </div>
  )
}

const OPERATIONS: readonly Column<AnswerOf<'GET /operations'>['items'][number]>[] = [
  { title: 'State', width: '110px', cell: ({ status }) => status },
  { title: 'Kind', width: '120px', cell: ({ kind }) => kind },
  {
    title: 'Done',
    width: '220px',
    cell: ({ done, refused, total, runs }) => (
      <span>
        {formatCount(done)} of {formatCount(total)}
        {runs > 0 && <span className="quiet">, {countOf(runs, 'new run')}</span>}
        {refused > 0 && <span className="quiet">, {formatCount(refused)} refused</span>}
      </span>
    ),
  },
  { title: 'By', width: '140px', cell: ({ by }) => by },
  { title: 'Why', className: 'wide quiet', cell: ({ reason }) => reason },
  { title: 'Started', width: '92px', cell: ({ createdAt }) => <When at={createdAt} /> },
  {
    title: 'End it',
    width: '100px',
    cell: ({ id, endedAt }) =>
      endedAt === null && (
        <ActNow
          label="Abort"
          look="danger plain"
          to="POST /operations/:id/abort"
          input={{ params: { id }, body: {} }}
        />
      ),
  },
]

/** Operations on many runs or events, with their progress. */
function Operations() {
  return (
    <ListTable
      of="GET /operations"
      label="Operations"
      columns={OPERATIONS}
      keyOf={({ id }) => id}
      empty={
        <Empty title="No operation on many runs or events yet.">
          <p>Filter the runs on the Runs page, then retry, resolve or cancel all that match.</p>
        </Empty>
      }
    />
  )
}

const OUTCOMES: Readonly<Record<string, string>> = { done: 'completed', unchanged: 'idle', refused: 'failed' }

const ACTIONS: readonly Column<AnswerOf<'GET /audit'>['items'][number]>[] = [
  { title: 'When', width: '92px', cell: ({ at }) => <When at={at} /> },
  { title: 'Who', width: '150px', cell: ({ actor }) => actor },
  { title: 'Did', width: '160px', cell: ({ action }) => action },
  { title: 'To', className: 'wide', cell: ({ target }) => <span className="mono">{target}</span> },
  { title: 'Why', className: 'wide quiet', cell: ({ reason }) => reason },
  {
    title: 'Outcome',
    width: '110px',
    cell: ({ outcome, error }) => (
      <span className="status" data-state={OUTCOMES[outcome] ?? 'idle'} title={error ?? ''}>
        {outcome}
      </span>
    ),
  },
]

/** The deeds of persons and programs, newest first. */
function Audit() {
  return (
    <ListTable
      of="GET /audit"
      label="Actions of people"
      columns={ACTIONS}
      keyOf={({ id }) => id}
      empty={<Empty title="Nobody has done anything yet." />}
    />
  )
}

const ACCOUNTS: readonly Column<AnswerOf<'GET /accounts'>['items'][number]>[] = [
  { title: 'Account', width: '160px', cell: ({ name }) => name },
  { title: 'Service', className: 'wide', cell: ({ baseUrl }) => <span className="mono">{baseUrl}</span> },
  { title: 'Plan', width: '110px', cell: ({ plan }) => String(plan) },
  { title: 'Endpoints', className: 'wide', cell: ({ endpoints }) => endpoints.join(', ') },
  { title: 'Kept by', width: '120px', className: 'quiet', cell: ({ keeper }) => keeper },
]

/** Accounts of the service, never with their keys. */
function Accounts() {
  const accounts = useApi('GET /accounts', {})
  return (
    <Loaded of={accounts}>
      {({ items }) => <DataTable label="Accounts" columns={ACCOUNTS} rows={items} keyOf={({ name }) => name} />}
    </Loaded>
  )
}

const SETTINGS: readonly Column<AnswerOf<'GET /config'>['items'][number]>[] = [
  { title: 'Setting', width: '40%', className: 'wide', cell: ({ setting }) => <code>{setting}</code> },
  { title: 'Value', className: 'wide', cell: ({ value }) => <code title={value}>{value}</code> },
]

/** The settings that the process runs with, without secrets. */
function Settings() {
  const settings = useApi('GET /config', {}, { isStill: true })
  return (
    <div className="stack">
      <div className="row">
        <p className="quiet">What this process runs with. Secrets are not here.</p>
        <span className="push">
          <CopyAs cli="upshot config show --origins" to="GET /config" input={{}} />
        </span>
      </div>
      <Loaded of={settings}>
        {({ items }) => <DataTable label="Settings" columns={SETTINGS} rows={items} keyOf={({ setting }) => setting} />}
      </Loaded>
    </div>
  )
}
