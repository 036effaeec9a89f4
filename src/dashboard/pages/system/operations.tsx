import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useAction, useList } from '../../api/use-api.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { List } from '../../parts/list.tsx'
import { Empty } from '../../parts/messages.tsx'
import { When } from '../../parts/when.tsx'
import { countOf, formatCount } from '../../words/format.ts'

type Operation = AnswerOf<'GET /operations'>['items'][number]

const COLUMNS: readonly Column<Operation>[] = [
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
  { title: 'Why', className: 'wide', cell: ({ reason }) => <span className="quiet">{reason}</span> },
  { title: 'Begun', width: '92px', cell: ({ createdAt }) => <When at={createdAt} /> },
  { title: 'End it', width: '100px', cell: (operation) => <Abort operation={operation} /> },
]

/** Operations on many runs or events, with their progress. */
export function Operations() {
  const operations = useList('GET /operations', { query: {} })
  return (
    <List of={operations} empty={<Empty title="No operation on many runs or events yet." />}>
      {(items) => <DataTable label="Operations" columns={COLUMNS} rows={items} keyOf={({ id }) => id} />}
    </List>
  )
}

function Abort({ operation: { id, endedAt } }: { operation: Operation }) {
  const abort = useAction('POST /operations/:id/abort')
  if (endedAt !== null) return null
  return (
    <button type="button" className="danger plain" onClick={() => abort.mutate({ params: { id }, body: {} })}>
      Abort
    </button>
  )
}
