import { useEffect, useState } from 'react'
import { useFeed } from '../../api/live.ts'
import { useApi } from '../../api/use-api.ts'
import { ListPage } from '../../parts/list.tsx'
import { Empty } from '../../parts/messages.tsx'
import { RUNS } from '../../parts/run-table.tsx'
import { hrefOfRun } from '../../parts/text.tsx'
import { useFilters } from '../../state/filters.ts'
import { useMay } from '../../state/session.ts'
import { toggled } from '../../words/format.ts'
import { BulkBar, MatchAll } from './run-acts.tsx'

const STATUSES: readonly [string, string][] = [
  ['', 'All'],
  ['failed', 'Failed'],
  ['person', 'Needs you'],
  ['waiting', 'Waiting'],
  ['running', 'Running'],
  ['pending', 'Pending'],
  ['completed', 'Completed'],
  ['canceled', 'Canceled'],
  ['skipped', 'Skipped'],
  ['planned', 'Planned'],
]

const RESOLVED = {
  name: 'resolved',
  label: 'Resolved',
  values: [
    ['', 'resolved or not'],
    ['false', 'not resolved'],
    ['true', 'resolved'],
  ],
} as const

const SKIPPED = {
  name: 'skipped',
  label: 'Skipped runs',
  values: [
    ['', 'without skipped'],
    ['shown', 'with skipped'],
  ],
} as const

/** The list of runs: search, filters, and what can be done with several at once. */
export default function Runs() {
  const { read } = useFilters()
  const { keys, toggle, clear } = useSelection()
  const mayAct = useMay('operator')
  const workflows = useApi('GET /workflows', {})
  const ids = workflows.data?.items.map(({ id }) => [id, id] as const) ?? []
  const status = read('status')
  const isOfFailed = status === 'failed' || read('resolved') !== ''
  return (
    <ListPage
      title="Runs"
      path="/runs"
      of="GET /runs"
      filters={['q', 'status', 'resolved', 'workflow', 'since', 'until', 'group']}
      queryOf={(name) => ({ ...queryOf(name), ...(hidesSkipped(name) && { withoutSkipped: 'true' }) })}
      cli={describeCommand}
      find={{
        label: 'Search runs',
        placeholder: 'Id, path, error or payload · status:failed tag:customer=acme',
        filters: {
          status: STATUSES.map(([state]) => state).filter((state) => state !== '' && state !== 'person'),
          workflow: ids.map(([id]) => id),
          origin: ['event', 'tick', 'manual', 'replay', 'plan', 'fork', 'failure', 'continue'],
          resolved: ['true', 'false'],
          ...{ tag: [], event: [], step: [], group: [], error: [] },
          ...{ since: ['1h', '24h', '7d'], until: ['1h', '24h', '7d'] },
        },
      }}
      choices={[
        ...(isOfFailed ? [RESOLVED] : []),
        ...(isOfAll(read) ? [SKIPPED] : []),
        { name: 'workflow', label: 'Workflow', values: [['', 'every workflow'], ...ids] },
      ]}
      range={{ hasEnd: true }}
      tabs={{ name: 'status', values: STATUSES }}
      actions={() => mayAct && <MatchAll status={status} filter={queryOf(read)} />}
      above={keys.size > 0 && <BulkBar ids={[...keys]} clear={clear} />}
      label="Runs"
      columns={RUNS}
      keyOf={({ id }) => id}
      hrefOf={hrefOfRun}
      {...(mayAct && { selection: { keys, toggle } })}
      empty={
        <Empty title="No run yet.">
          <p>An event, a tick or another run starts one. Make an event of your own:</p>
          <code>upshot trigger transfer.completed</code>
        </Empty>
      }
    />
  )
}

type Read = (name: string) => string

/** Whether nothing says which states to list. */
const isOfAll = (read: Read) => read('status') === '' && read('q') === ''

/** Runs that a limit or a rule skipped would drown the others. */
const hidesSkipped = (read: Read) => isOfAll(read) && read('skipped') === ''

function queryOf(read: Read): Record<string, unknown> {
  const status = read('status')
  const names = ['q', 'workflow', 'since', 'until', 'group', 'resolved']
  return {
    ...Object.fromEntries(names.map((name) => [name, read(name)])),
    ...(status === 'person' ? { needsPerson: 'true' } : { status }),
  }
}

/** A selection holds the page still, so that no row moves under the pointer. */
function useSelection() {
  const [keys, setKeys] = useState<ReadonlySet<string>>(new Set())
  const { setPaused } = useFeed()
  const isHolding = keys.size > 0
  useEffect(() => {
    if (!isHolding) return
    setPaused(true)
    return () => setPaused(false)
  }, [isHolding, setPaused])
  const toggle = (key: string) => setKeys(toggled(keys, key))
  const clear = () => setKeys(new Set())
  return { keys, toggle, clear }
}

function describeCommand(query: Record<string, unknown>): string {
  const options = ['status', 'workflow', 'since', 'until', 'group'].flatMap((name) =>
    query[name] ? [`--${name} ${query[name]}`] : [],
  )
  const needs = query.needsPerson ? ['--waiting-for-me'] : []
  const skipped = query.withoutSkipped ? ['--without-skipped'] : []
  const resolved = query.resolved ? [query.resolved === 'true' ? '--resolved' : '--unresolved'] : []
  return ['upshot runs list', ...needs, ...options, ...resolved, ...skipped].join(' ')
}
