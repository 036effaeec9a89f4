import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useApi } from '../../api/use-api.ts'
import { Act, ActNow, SecretOnce } from '../../parts/act.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import type { Field } from '../../parts/fields.tsx'
import { Tabs } from '../../parts/find.tsx'
import { ListTable } from '../../parts/list.tsx'
import { Empty, Loaded } from '../../parts/messages.tsx'
import { PageHead } from '../../parts/page.tsx'
import { When } from '../../parts/when.tsx'
import { useFilters } from '../../state/filters.ts'
import { useMay } from '../../state/session.ts'
import { countOf, formatCount } from '../../words/format.ts'
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
  ['access', 'Access', 'admin', Tokens],
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
      {Chosen && <Chosen />}
    </div>
  )
}

const OPERATIONS: readonly Column<AnswerOf<'GET /operations'>['items'][number]>[] = [
  { title: 'State', width: '110px', cell: ({ status }) => status },
  { title: 'Does', width: '120px', cell: ({ kind }) => kind },
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
  { title: 'Begun', width: '92px', cell: ({ createdAt }) => <When at={createdAt} /> },
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
          <p>Choose runs on the page Runs, then retry, resolve or cancel all that match.</p>
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
      label="Actions of persons"
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

const COLUMNS: readonly Column<AnswerOf<'GET /tokens'>['items'][number]>[] = [
  { title: 'Token', width: '180px', cell: ({ name }) => name },
  { title: 'Role', width: '110px', cell: ({ role }) => role },
  { title: 'Made', width: '100px', cell: ({ createdAt }) => <When at={createdAt} /> },
  { title: 'Ends', width: '100px', cell: ({ expiresAt }) => <When at={expiresAt} /> },
  { title: 'Last used', width: '100px', cell: ({ lastUsedAt }) => <When at={lastUsedAt} /> },
  {
    title: '',
    cell: ({ id, revokedAt }) =>
      revokedAt !== null ? (
        <span className="quiet">revoked</span>
      ) : (
        <ActNow label="Revoke" look="danger plain" to="DELETE /tokens/:id" input={{ params: { id } }} />
      ),
  },
]

const NEW: readonly Field[] = [
  { name: 'name', label: 'Name', isRequired: true, example: 'ci' },
  { name: 'role', label: 'Role', options: ['viewer', 'operator', 'admin'] },
]

/** Tokens of programs. A secret is shown once. */
function Tokens() {
  const tokens = useApi('GET /tokens', {})
  return (
    <div className="stack">
      <div className="row">
        <span className="push">
          <Act
            label="New token…"
            title="New token"
            action="Make the token"
            fields={NEW}
            to="POST /tokens"
            then={({ secret }) => <SecretOnce secret={secret} />}
          >
            <p className="quiet">It ends after 90 days.</p>
          </Act>
        </span>
      </div>
      <Loaded of={tokens}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No token yet.">
              <p>A token lets a program use the API with a role of its own.</p>
            </Empty>
          ) : (
            <DataTable label="Tokens" columns={COLUMNS} rows={items} keyOf={({ id }) => id} />
          )
        }
      </Loaded>
    </div>
  )
}
