import { Link } from 'wouter'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useAction } from '../../api/use-api.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/messages.tsx'
import { Look } from '../../parts/status.tsx'
import { Path } from '../../parts/text.tsx'
import { When } from '../../parts/when.tsx'
import { useToasts } from '../../state/toasts.tsx'
import { formatBytes } from '../../words/format.ts'
import type { State } from '../../words/states.ts'
import { storyOf } from '../../words/story.ts'

type Transfer = AnswerOf<'GET /sandbox'>['transfers'][number]

const LOOKS: Record<string, { state: State; glyph: string }> = {
  completed: { state: 'completed', glyph: '✓' },
  failed: { state: 'failed', glyph: '✗' },
  running: { state: 'running', glyph: '◐' },
  queued: { state: 'idle', glyph: '○' },
  canceled: { state: 'idle', glyph: '⊘' },
}
const UNKNOWN = { state: 'idle', glyph: '·' } as const

const COLUMNS: readonly Column<Transfer>[] = [
  {
    title: 'State',
    width: '120px',
    cell: ({ status }) => <Look look={{ ...(LOOKS[status] ?? UNKNOWN), word: status }} />,
  },
  {
    title: 'What',
    className: 'wide',
    cell: ({ id, from, to }) => (
      <Link href={storyOf(id)}>
        <Path text={`${from.storage}:${from.path} → ${to.storage}:${to.path}`} />
      </Link>
    ),
  },
  {
    title: 'Done',
    width: '170px',
    cell: ({ bytes, error }) =>
      error === null ? (
        <span className="quiet">
          {formatBytes(bytes.done)} of {formatBytes(bytes.total)}
        </span>
      ) : (
        <span title={error}>{error}</span>
      ),
  },
  { title: 'Begun', width: '92px', cell: ({ startedAt }) => <When at={startedAt} /> },
  { title: 'End it', width: '100px', cell: (transfer) => <Cancel transfer={transfer} /> },
]

/** The newest transfers of the sandbox. */
export function Transfers({ transfers }: { transfers: readonly Transfer[] }) {
  if (transfers.length === 0) return <Empty title="No transfer yet." />
  return <DataTable label="Transfers" columns={COLUMNS} rows={transfers} keyOf={({ id }) => id} />
}

function Cancel({ transfer: { id, finishedAt } }: { transfer: Transfer }) {
  const toast = useToasts()
  const cancel = useAction('POST /sandbox/transfers/:id/cancel')
  if (finishedAt !== null) return null
  return (
    <button
      type="button"
      className="plain"
      onClick={() => cancel.mutate({ params: { id }, body: {} }, { onError: (error) => toast(error.message, true) })}
    >
      Cancel
    </button>
  )
}
