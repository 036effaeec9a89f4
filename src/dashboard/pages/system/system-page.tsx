import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useList } from '../../api/use-api.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Tabs } from '../../parts/find.tsx'
import { List } from '../../parts/list.tsx'
import { Empty } from '../../parts/messages.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { When } from '../../parts/when.tsx'
import { useFilters } from '../../state/filters.ts'
import { useMay } from '../../state/session.ts'
import { Accounts } from './accounts.tsx'
import { Alerts } from './alerts.tsx'
import { Health } from './health.tsx'
import { Operations } from './operations.tsx'
import { Retention } from './retention.tsx'
import { Settings } from './settings.tsx'
import { Tokens } from './tokens.tsx'

type Action = AnswerOf<'GET /audit'>['items'][number]

const TABS: readonly [string, string][] = [
  ['', 'Health'],
  ['operations', 'Operations'],
  ['alerts', 'Alerts'],
  ['audit', 'Audit'],
  ['accounts', 'Accounts'],
  ['retention', 'Retention'],
]

/** The app itself: what runs, who may, and who did what. */
export default function System() {
  const tab = useFilters().read('tab')
  const isAdmin = useMay('admin')
  const isOperator = useMay('operator')
  const tabs: [string, string][] = [
    ...TABS,
    ...(isOperator ? [['config', 'Config'] as [string, string]] : []),
    ...(isAdmin ? [['access', 'Access'] as [string, string]] : []),
  ]
  return (
    <div className="stack">
      <PageHead title="System" />
      <Tabs path="/system" name="tab" values={tabs} />
      {tab === '' && <Health />}
      {tab === 'operations' && <Operations />}
      {tab === 'alerts' && <Alerts />}
      {tab === 'audit' && <Audit />}
      {tab === 'accounts' && <Accounts />}
      {tab === 'retention' && <Retention />}
      {tab === 'config' && isOperator && <Settings />}
      {tab === 'access' && isAdmin && <Tokens />}
    </div>
  )
}

const OUTCOMES = { done: 'completed', unchanged: 'idle', refused: 'failed' } as const

const COLUMNS: readonly Column<Action>[] = [
  { title: 'When', width: '92px', cell: ({ at }) => <When at={at} /> },
  { title: 'Who', width: '150px', cell: ({ actor }) => actor },
  { title: 'Did', width: '160px', cell: ({ action }) => action },
  { title: 'To', className: 'wide', cell: ({ target }) => <span className="mono">{target}</span> },
  { title: 'Why', className: 'wide', cell: ({ reason }) => <span className="quiet">{reason}</span> },
  {
    title: 'Outcome',
    width: '110px',
    cell: ({ outcome, error }) => (
      <span className="status" data-state={OUTCOMES[outcome as keyof typeof OUTCOMES] ?? 'idle'} title={error ?? ''}>
        {outcome}
      </span>
    ),
  },
]

function Audit() {
  const actions = useList('GET /audit', { query: {} })
  return (
    <List of={actions} empty={<Empty title="Nobody has done anything yet." />}>
      {(items) => <DataTable label="Actions of persons" columns={COLUMNS} rows={items} keyOf={({ id }) => id} />}
    </List>
  )
}
