import { useEffect, useState } from 'react'
import { urlOf } from '../../api/client.ts'
import { useFeed } from '../../api/live.ts'
import { useApi, useList } from '../../api/use-api.ts'
import { CopyAs } from '../../parts/copy-as.tsx'
import { Choice, Find, RANGES, Tabs } from '../../parts/find.tsx'
import { List } from '../../parts/list.tsx'
import { Empty } from '../../parts/messages.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { RunTable } from '../../parts/run-table.tsx'
import { useFilters } from '../../state/filters.ts'
import { useMay } from '../../state/session.ts'
import { BulkBar } from './bulk-bar.tsx'
import { MatchAll } from './match-all.tsx'

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

/** The list of runs: search, filters, and what can be done with several at once. */
export default function Runs() {
  const filters = useFilters()
  const query = readQuery(filters.read)
  const listed = { ...query, ...(hidesSkipped(filters.read) && { withoutSkipped: 'true' }) }
  const runs = useList('GET /runs', { query: listed })
  const { keys, toggle, clear } = useSelection()
  const mayAct = useMay('operator')
  const isFiltered = ['q', 'status', 'resolved', 'workflow', 'since', 'until', 'group'].some(
    (name) => filters.read(name) !== '',
  )
  return (
    <div className="stack">
      <PageHead title="Runs">
        {mayAct && <MatchAll status={filters.read('status')} filter={query} />}
        <CopyAs cli={describeCommand(listed)} url={urlOf('GET /runs', { query: listed as never })} />
      </PageHead>
      <div className="row">
        <div className="grow">
          <Find label="Search runs" placeholder="Id, path, error or payload · status:failed tag:customer=acme" />
        </div>
        {(query.status === 'failed' || query.resolved !== '') && (
          <Choice name="resolved" label="Resolved" values={RESOLVED} />
        )}
        {isOfAll(filters.read) && <Choice name="skipped" label="Skipped runs" values={SKIPPED} />}
        <WorkflowChoice />
        <Choice name="since" label="Range of time" values={RANGES} />
      </div>
      <Tabs path="/runs" name="status" values={STATUSES} />
      {keys.size > 0 && <BulkBar ids={[...keys]} clear={clear} />}
      <List of={runs} empty={<NoRuns isFiltered={isFiltered} clear={() => filters.set(NOTHING)} />}>
        {(items) => (
          <RunTable
            runs={items}
            isStale={runs.isPlaceholderData}
            {...(mayAct ? { selection: { keys, toggle } } : {})}
          />
        )}
      </List>
    </div>
  )
}

const RESOLVED: readonly [string, string][] = [
  ['', 'resolved or not'],
  ['false', 'not resolved'],
  ['true', 'resolved'],
]

const SKIPPED: readonly [string, string][] = [
  ['', 'without skipped'],
  ['shown', 'with skipped'],
]

/** Whether nothing says which states to list. */
function isOfAll(read: (name: string) => string): boolean {
  return read('status') === '' && read('q') === ''
}

/** Runs that a limit or a rule skipped would drown the others. */
function hidesSkipped(read: (name: string) => string): boolean {
  return isOfAll(read) && read('skipped') === ''
}

const NOTHING = {
  q: null,
  status: null,
  skipped: null,
  resolved: null,
  workflow: null,
  since: null,
  until: null,
  group: null,
}

function readQuery(read: (name: string) => string): Record<string, unknown> {
  const status = read('status')
  return {
    q: read('q'),
    workflow: read('workflow'),
    since: read('since'),
    until: read('until'),
    group: read('group'),
    resolved: read('resolved'),
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
  const toggle = (key: string) => {
    const next = new Set(keys)
    if (!next.delete(key)) next.add(key)
    setKeys(next)
  }
  const clear = () => setKeys(new Set())
  return { keys, toggle, clear }
}

function WorkflowChoice() {
  const workflows = useApi('GET /workflows', {})
  const ids = workflows.data?.items.map(({ id }): [string, string] => [id, id]) ?? []
  return <Choice name="workflow" label="Workflow" values={[['', 'every workflow'], ...ids]} />
}

function NoRuns({ isFiltered, clear }: { isFiltered: boolean; clear: () => void }) {
  if (isFiltered) {
    return (
      <Empty title="No run fits these filters.">
        <button type="button" onClick={clear}>
          Clear the filters
        </button>
      </Empty>
    )
  }
  return (
    <Empty title="No run yet.">
      <p>An event, a tick or another run starts one. Make an event of your own:</p>
      <code>upshot trigger transfer.completed</code>
    </Empty>
  )
}

function describeCommand(query: Record<string, unknown>): string {
  const options = ['status', 'workflow', 'since', 'group'].flatMap((name) =>
    query[name] ? [`--${name} ${query[name]}`] : [],
  )
  const needs = query.needsPerson ? ['--waiting-for-me'] : []
  const skipped = query.withoutSkipped ? ['--without-skipped'] : []
  const resolved = query.resolved ? [query.resolved === 'true' ? '--resolved' : '--unresolved'] : []
  return ['upshot runs list', ...needs, ...options, ...resolved, ...skipped].join(' ')
}
