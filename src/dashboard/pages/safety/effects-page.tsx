import { Link } from 'wouter'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { saveAnswer } from '../../api/client.ts'
import type { Column } from '../../parts/data-table.tsx'
import { ListPage } from '../../parts/list.tsx'
import { Empty } from '../../parts/messages.tsx'
import { historyOf, Look, Path, RunLink } from '../../parts/text.tsx'
import { When } from '../../parts/when.tsx'
import { useMay } from '../../state/session.ts'
import { useToasts } from '../../state/toasts.tsx'
import { commandOf, formatBytes } from '../../words/format.ts'
import { lookOfEffect } from '../../words/states.ts'

type Effect = AnswerOf<'GET /effects'>['items'][number]

const COLUMNS: readonly Column<Effect>[] = [
  { title: 'When', width: '88px', cell: ({ at }) => <When at={at} /> },
  { title: 'State', width: '130px', cell: (effect) => <Look look={lookOfEffect(effect)} /> },
  {
    title: 'Did',
    width: '17%',
    cell: ({ operation, class: kind }) => (
      <span title={operation}>
        {operation} {kind !== 'guard' && <span className={`tag ${kind}`}>{kind}</span>}
      </span>
    ),
  },
  { title: 'File', className: 'wide', cell: (effect) => <File effect={effect} /> },
  {
    title: 'Size',
    width: '80px',
    className: 'number',
    cell: ({ bytes }) => bytes !== null && formatBytes(bytes),
  },
  { title: 'By', width: '22%', className: 'wide', cell: (effect) => <By effect={effect} /> },
]

/** The effect ledger: who did what to which file, when, by which run and whose word. */
export default function EffectsPage() {
  const mayAct = useMay('operator')
  return (
    <ListPage
      title="Effects"
      path="/effects"
      of="GET /effects"
      filters={['file', 'workflow', 'run', 'since', 'until']}
      queryOf={(read) => {
        const file = read('file')
        const others = ['workflow', 'run', 'since', 'until'].map((name) => [name, read(name)])
        return { [file.startsWith('/') ? 'path' : 'target']: file, ...Object.fromEntries(others) }
      }}
      cli={({ path, target, ...others }) =>
        commandOf('upshot effects list', { file: path || target, ...others }, [
          'file',
          'workflow',
          'run',
          'since',
          'until',
        ])
      }
      find={{
        name: 'file',
        label: 'Path or target of a file',
        placeholder: '/in/a.pdf, or a target such as storage_a:fil_1',
      }}
      range={{ hasEnd: true }}
      actions={(query) => mayAct && <Export query={query} />}
      label="Effects"
      columns={COLUMNS}
      keyOf={({ seq }) => String(seq)}
      empty={
        <Empty title="No effect yet.">
          <p>Each delete is listed when it begins and when it ends, and so is each write that has a target.</p>
        </Empty>
      }
    />
  )
}

/** Saves the rows of the filter, not only those that are shown. */
function Export({ query }: { query: Record<string, unknown> }) {
  const toast = useToasts()
  const save = () =>
    saveAnswer('GET /effects/export', { query }, 'effects.ndjson').catch((error: Error) => toast(error.message, true))
  return (
    <button type="button" onClick={save}>
      Export
    </button>
  )
}

function File({ effect: { path, target } }: { effect: Effect }) {
  const subject = target ?? path
  if (subject === null) return null
  return (
    <Link href={historyOf(subject)}>
      <Path text={path ?? target} />
    </Link>
  )
}

function By({ effect: { runId, workflow, actor, approval } }: { effect: Effect }) {
  return (
    <span>
      {actor}
      {runId !== null && <RunLink run={{ id: runId, workflow }} />}
      {approval !== null && (
        <>
          {' '}
          <Link href={`/approvals/${approval}`}>approval</Link>
        </>
      )}
    </span>
  )
}
