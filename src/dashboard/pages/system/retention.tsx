import { useState } from 'react'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { urlOf } from '../../api/client.ts'
import { useAction, useApi } from '../../api/use-api.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Loaded, ProblemNote } from '../../parts/messages.tsx'
import { Moment } from '../../parts/when.tsx'
import { useMay } from '../../state/session.ts'
import { useToasts } from '../../state/toasts.tsx'
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
  { title: 'Goes if older than', width: '260px', cell: ({ before }) => <Moment at={before} /> },
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
            <CopyAs cli="upshot db prune" url={urlOf('POST /retention/prune', { body: {} })} body={{}} />
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
  const prune = useAction('POST /retention/prune')
  const counts = useApi('GET /retention/prunable', {}, { isStill: true })
  const toast = useToasts()
  const perform = async (reason: string | undefined) => {
    const { pruned } = await prune.mutateAsync({ body: { reason } })
    const total = Object.values(pruned).reduce((sum, count) => sum + count, 0)
    toast(total === 0 ? 'Nothing was old enough.' : `Removed ${formatCount(total)} rows.`)
  }
  return (
    <Confirm
      title="Remove old data for good?"
      action="Prune now"
      isDangerous
      isReady={!counts.isPending}
      onClose={onClose}
      perform={perform}
    >
      {counts.error && <ProblemNote error={counts.error} />}
      <ul className="prunable" aria-busy={counts.isPending}>
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
            {before !== null && <Amount of={counts.data?.items.find((item) => item.kind === kind)} counts={counts} />}
          </li>
        ))}
      </ul>
    </Confirm>
  )
}

function Amount({ of, counts }: { of: Prunable | undefined; counts: { isPending: boolean } }) {
  if (of === undefined) return <span className="amount quiet">{counts.isPending ? 'counting…' : 'not counted'}</span>
  const { bytes, weeks } = of
  return (
    <span className="amount">
      <strong>{describeCount(of)}</strong>
      {bytes !== null && bytes > 0 && <span className="quiet">{formatBytes(bytes)}</span>}
      {weeks !== null && (
        <span className="quiet">
          {countOf(weeks.count, 'week')} at once, {formatBytes(weeks.bytes)} on disk
        </span>
      )}
    </span>
  )
}

function describeCount({ rows, isComplete }: Prunable): string {
  return isComplete ? formatCount(rows) : `${formatCount(rows)} or more`
}
