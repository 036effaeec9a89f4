import { useEffect, useState } from 'react'
import { useLocation, useSearch } from 'wouter'
import { ApiError } from '../../api/api-error.ts'
import { call } from '../../api/client.ts'
import { useFeed } from '../../api/live.ts'
import { useApi } from '../../api/use-api.ts'
import { Act } from '../../parts/act.tsx'
import { ListPage } from '../../parts/list.tsx'
import { Empty } from '../../parts/messages.tsx'
import { RUNS } from '../../parts/run-table.tsx'
import { hrefOfRun } from '../../parts/text.tsx'
import { useFilters } from '../../state/filters.ts'
import { useMay } from '../../state/session.ts'
import { useToasts } from '../../state/toasts.tsx'
import { commandOf, countOf, givenOnly, toggled } from '../../words/format.ts'

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
          tag: [],
          event: [],
          step: [],
          group: [],
          error: [],
          since: ['1h', '24h', '7d'],
          until: ['1h', '24h', '7d'],
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

const NONE: ReadonlySet<string> = new Set()

/**
 * A selection holds the page still, so that no row moves under the pointer. It is of one search:
 * nobody acts on runs that another one does not show.
 */
function useSelection() {
  const search = useSearch()
  const [held, setHeld] = useState({ search, keys: NONE })
  const keys = held.search === search ? held.keys : NONE
  const { setPaused } = useFeed()
  const isHolding = keys.size > 0
  useEffect(() => {
    if (!isHolding) return
    setPaused(true)
    return () => setPaused(false)
  }, [isHolding, setPaused])
  const toggle = (key: string) => setHeld({ search, keys: toggled(keys, key) })
  const clear = () => setHeld({ search, keys: NONE })
  return { keys, toggle, clear }
}

function describeCommand(query: Record<string, unknown>): string {
  const list = commandOf('upshot runs list', query, ['status', 'workflow', 'since', 'until', 'group'])
  const needs = query.needsPerson ? ['--waiting-for-me'] : []
  const skipped = query.withoutSkipped ? ['--without-skipped'] : []
  const resolved = query.resolved ? [query.resolved === 'true' ? '--resolved' : '--unresolved'] : []
  return [list, ...needs, ...resolved, ...skipped].join(' ')
}

const SELECTED = [
  { to: 'POST /runs/:id/retry', verb: 'Retry', done: 'retried' },
  { to: 'POST /runs/:id/resume', verb: 'Resume', done: 'resumed' },
  { to: 'POST /runs/:id/cancel', verb: 'Cancel', done: 'canceled' },
] as const

/** The actions on the selected runs. Each run is asked for itself, so that one refusal stops none. */
function BulkBar({ ids, clear }: { ids: readonly string[]; clear: () => void }) {
  const toast = useToasts()
  const perform = async ({ to, done }: (typeof SELECTED)[number], body: object) => {
    const answers = await Promise.allSettled(ids.map((id) => call(to, { params: { id }, body })))
    const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []))
    const why = refused[0] instanceof ApiError ? `: ${refused[0].problem.detail}` : ''
    const words = `${countOf(ids.length - refused.length, 'run')} ${done}`
    toast(`${words}${refused.length > 0 ? `, ${refused.length} refused${why}` : ''}.`, refused.length > 0)
  }
  return (
    <div className="bulk">
      <strong>{ids.length} selected</strong>
      {SELECTED.map((act) => (
        <Act
          key={act.verb}
          label={`${act.verb}…`}
          look={act.verb === 'Cancel' ? 'danger' : undefined}
          title={`${act.verb} ${countOf(ids.length, 'run')}?`}
          action={`${act.verb} ${countOf(ids.length, 'run')}`}
          isDangerous={act.verb === 'Cancel'}
          to={act.to}
          perform={({ body }) => perform(act, body) as never}
          then={clear}
        >
          <ul className="small mono">
            {ids.slice(0, 10).map((id) => (
              <li key={id}>{id}</li>
            ))}
          </ul>
        </Act>
      ))}
      <button type="button" className="plain" onClick={clear}>
        Clear the selection
      </button>
    </div>
  )
}

const VERBS = { retry: 'Retry', resolve: 'Resolve', resume: 'Resume', cancel: 'Cancel' } as const
type Kind = keyof typeof VERBS

/** The operations on all runs of a tab. */
const KINDS: Readonly<Record<string, readonly Kind[]>> = {
  failed: ['resolve', 'retry'],
  person: ['resume'],
  waiting: ['cancel'],
  pending: ['cancel'],
  running: ['cancel'],
}

/** An operation on all runs of the filter, in the background; runs made later are left out. */
function MatchAll({ status, filter }: { status: string; filter: Record<string, unknown> }) {
  const [, go] = useLocation()
  return KINDS[status]?.map((kind) => (
    <Act
      key={kind}
      label={`${VERBS[kind]} all that match…`}
      look={kind === 'cancel' ? 'danger' : undefined}
      title={`${VERBS[kind]} all runs that match?`}
      action={`${VERBS[kind]} them`}
      isDangerous={kind === 'cancel'}
      isReasonNeeded={kind === 'resolve'}
      to="POST /operations"
      given={{ body: { kind, filter: givenOnly(filter) } }}
      then={() => go('/system?tab=operations')}
    >
      <Count filter={givenOnly(filter)} />
    </Act>
  ))
}

function Count({ filter }: { filter: object }) {
  const first = useApi('GET /runs', { query: { ...filter, limit: 50 } })
  const shown = countOf(first.data?.items.length ?? 0, 'run')
  return (
    <p>
      {first.data ? `${first.data.next === null ? shown : `More than ${shown}`} match now.` : 'Counting…'} The operation
      goes on in the background, survives a crash, and can be aborted. Its progress is on the System page.
    </p>
  )
}
