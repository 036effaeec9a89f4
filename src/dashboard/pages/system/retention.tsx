import { useState } from 'react'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useApi } from '../../api/use-api.ts'
import { ActDialog } from '../../parts/act.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Loaded, ProblemNote } from '../../parts/messages.tsx'
import { Moment } from '../../parts/when.tsx'
import { useMay } from '../../state/session.ts'
import { countOf, formatBytes, formatCount, formatDuration } from '../../words/format.ts'

type Bound = AnswerOf<'GET /retention'>['items'][number]

type Prunable = AnswerOf<'GET /retention/prunable'>['items'][number]

const WORDS: Record<Bound['kind'], string> = {
  runs: 'Completed runs',
  failures: 'Failed and canceled runs',
  refusals: 'Refused deliveries',
  deliveries: 'Rows of the delivery ledger',
  payloads: 'Bodies of events',
  audit: 'Rows of the audit log',
  effects: 'Rows of the effect ledger',
  files: 'Files that are gone, as sweeps know them',
}

const COLUMNS: readonly Column<Bound>[] = [
  { title: 'What', className: 'wide', cell: ({ kind }) => WORDS[kind] },
  { title: 'Kept for', width: '160px', cell: ({ ageMs }) => (ageMs === null ? 'ever' : formatDuration(ageMs)) },
  { title: 'Removed if older than', width: '260px', cell: ({ before }) => <Moment at={before} /> },
]

/** How long each kind of data is kept, and the removal of what is older. */
export function Retention() {
  const retention = useApi('GET /retention', {})
  const isAdmin = useMay('admin')
  const [isOpen, setOpen] = useState(false)
  return (
    <Loaded of={retention}>
      {({ items, isPruning }) => (
        <div className="stack">
          <div className="row">
            <p className="quiet">The app prunes every hour. The ages are in the project file.</p>
            {isAdmin && (
              <button type="button" className="push" disabled={isPruning} onClick={() => setOpen(true)}>
                {isPruning ? 'Pruning…' : 'Prune now…'}
              </button>
            )}
            <CopyAs cli="upshot db prune" to="POST /retention/prune" input={{ body: {} }} />
          </div>
          <DataTable label="Retention" columns={COLUMNS} rows={items} keyOf={({ kind }) => kind} />
          {isOpen && <PruneDialog bounds={items} onClose={() => setOpen(false)} />}
        </div>
      )}
    </Loaded>
  )
}

/** Says how much would go before it asks. A count that fails is told, and forbids nothing. */
function PruneDialog({ bounds, onClose }: { bounds: readonly Bound[]; onClose: () => void }) {
  const { data, error, isPending } = useApi('GET /retention/prunable', {}, { isStill: true })
  return (
    <ActDialog
      title="Remove old data for good?"
      action="Prune now"
      isDangerous
      isReady={!isPending}
      onClose={onClose}
      to="POST /retention/prune"
      then={({ pruned }) => {
        const total = Object.values(pruned).reduce((sum, count) => sum + count, 0)
        return total === 0 ? 'Nothing was old enough.' : `Removed ${formatCount(total)} rows.`
      }}
    >
      {error && <ProblemNote error={error} />}
      <ul className="pairs prunable" aria-busy={isPending}>
        {bounds.map(({ kind, before }) => (
          <li key={kind}>
            <span>{WORDS[kind]}</span>
            <span className="quiet">
              {before === null ? (
                'kept for ever'
              ) : (
                <>
                  older than <Moment at={before} />
                </>
              )}
            </span>
            {before !== null && <Amount of={data?.items.find((item) => item.kind === kind)} isCounting={isPending} />}
          </li>
        ))}
      </ul>
    </ActDialog>
  )
}

function Amount({ of, isCounting }: { of: Prunable | undefined; isCounting: boolean }) {
  if (of === undefined) return <span className="amount quiet">{isCounting ? 'counting…' : 'not counted'}</span>
  const { rows, bytes, weeks, isComplete } = of
  return (
    <span className="amount">
      <strong>{isComplete ? formatCount(rows) : `${formatCount(rows)} or more`}</strong>
      {bytes !== null && bytes > 0 && <span className="quiet">{formatBytes(bytes)}</span>}
      {weeks !== null && (
        <span className="quiet">
          {countOf(weeks.count, 'week')} at once, {formatBytes(weeks.bytes)} on disk
        </span>
      )}
    </span>
  )
}
