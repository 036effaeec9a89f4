import { type FormEvent, useEffect, useState } from 'react'
import { Link } from 'wouter'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { urlOf } from '../../api/client.ts'
import { saveAnswer } from '../../api/save-answer.ts'
import { useList } from '../../api/use-api.ts'
import { CopyAs } from '../../parts/copy-as.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Choice, RANGES } from '../../parts/find.tsx'
import { List } from '../../parts/list.tsx'
import { Empty } from '../../parts/messages.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Look } from '../../parts/status.tsx'
import { Path } from '../../parts/text.tsx'
import { When } from '../../parts/when.tsx'
import { useFilters } from '../../state/filters.ts'
import { useMay } from '../../state/session.ts'
import { useToasts } from '../../state/toasts.tsx'
import { formatBytes, shortId } from '../../words/format.ts'
import type { State } from '../../words/states.ts'
import { storyOf } from '../../words/story.ts'

type Effect = AnswerOf<'GET /effects'>['items'][number]

/** The effect ledger: who did what to which file, when, by which run and whose word. */
export default function EffectsPage() {
  const filters = useFilters()
  const file = filters.read('file')
  const query = {
    ...(file.startsWith('/') ? { path: file } : { target: file }),
    workflow: filters.read('workflow'),
    run: filters.read('run'),
    since: filters.read('since'),
  }
  const effects = useList('GET /effects', { query })
  const command = file === '' ? 'upshot effects list' : `upshot effects of ${file}`
  return (
    <div className="stack">
      <PageHead title="Effects">
        <Export since={filters.read('since')} />
        <CopyAs cli={command} url={urlOf('GET /effects', { query: query as never })} />
      </PageHead>
      <div className="row">
        <FileFilter file={file} set={(given) => filters.set({ file: given })} />
        <Choice name="since" label="Range of time" values={RANGES} />
      </div>
      <List of={effects} empty={<NoEffect isFiltered={file !== '' || query.since !== ''} />}>
        {(items) => (
          <DataTable
            label="Effects"
            columns={COLUMNS}
            rows={items}
            keyOf={({ seq }) => String(seq)}
            isStale={effects.isPlaceholderData}
          />
        )}
      </List>
    </div>
  )
}

function FileFilter({ file, set }: { file: string; set: (file: string) => void }) {
  const [text, setText] = useState(file)
  useEffect(() => setText(file), [file])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    set(text.trim())
  }
  return (
    <form className="find grow" onSubmit={submit}>
      <input
        type="search"
        data-key="/"
        aria-label="Path or target of a file"
        placeholder="/in/a.pdf, or a target such as storage_a:fil_1"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <kbd>/</kbd>
    </form>
  )
}

function Export({ since }: { since: string }) {
  const toast = useToasts()
  const mayAct = useMay('operator')
  if (!mayAct) return null
  const url = urlOf('GET /effects/export', { query: since === '' ? {} : { since } })
  const save = () => saveAnswer(url, 'effects.ndjson').catch((error: Error) => toast(error.message, true))
  return (
    <button type="button" onClick={save}>
      Export
    </button>
  )
}

const OUTSIDE = { glyph: '!', state: 'person' } as const

const PHASES: Record<Effect['phase'], { glyph: string; state: State }> = {
  begun: { glyph: '◐', state: 'running' },
  ended: { glyph: '✓', state: 'completed' },
  done: { glyph: '✓', state: 'completed' },
  decided: { glyph: '⚖', state: 'person' },
  switched: { glyph: '⏻', state: 'waiting' },
  noted: { glyph: '·', state: 'idle' },
}

function PhaseMark({ effect: { phase, outcome, error, workflow } }: { effect: Effect }) {
  const isBad = error !== null && (phase === 'ended' || phase === 'done')
  // A workflow's code called past the guard and the ledger.
  const isOutside = phase === 'noted' && workflow !== null
  const look = isBad ? { glyph: '✗', state: 'failed' as const } : isOutside ? OUTSIDE : PHASES[phase]
  return <Look look={{ ...look, word: isBad ? 'failed' : (outcome ?? phase).replaceAll('_', ' ').slice(0, 16) }} />
}

const COLUMNS: readonly Column<Effect>[] = [
  { title: 'When', width: '88px', cell: ({ at }) => <When at={at} /> },
  { title: 'State', width: '130px', cell: (effect) => <PhaseMark effect={effect} /> },
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
    cell: ({ bytes }) => (bytes === null ? null : formatBytes(bytes)),
  },
  { title: 'By', width: '22%', className: 'wide', cell: (effect) => <By effect={effect} /> },
]

function File({ effect: { path, target } }: { effect: Effect }) {
  const story = target ?? path
  if (story === null) return null
  return (
    <Link href={storyOf(story)}>
      <Path text={path ?? target} />
    </Link>
  )
}

function By({ effect: { runId, workflow, actor, approval } }: { effect: Effect }) {
  return (
    <span>
      {actor ?? null}
      {runId !== null && (
        <Link href={`/runs/${runId}`}>
          {workflow} <span className="mono quiet">{shortId(runId)}</span>
        </Link>
      )}
      {approval !== null && (
        <>
          {' '}
          <Link href={`/approvals/${approval}`}>approval</Link>
        </>
      )}
    </span>
  )
}

function NoEffect({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty title="The ledger has no such effect." />
  return (
    <Empty title="No effect yet.">
      <p>Each delete of a run is here when it begins and when it ends, and each write with a target.</p>
    </Empty>
  )
}
