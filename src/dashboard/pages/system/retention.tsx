import { useState } from 'react'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { urlOf } from '../../api/client.ts'
import { useAction, useApi } from '../../api/use-api.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Loaded } from '../../parts/messages.tsx'
import { Moment } from '../../parts/when.tsx'
import { useMay } from '../../state/session.ts'
import { useToasts } from '../../state/toasts.tsx'
import { formatCount, formatDuration } from '../../words/format.ts'

type Bound = AnswerOf<'GET /retention'>['items'][number]

const WORDS: Record<Bound['kind'], string> = {
  runs: 'Completed runs',
  failures: 'Failed and canceled runs',
  refusals: 'Refused deliveries',
  deliveries: 'Rows of the delivery ledger',
  payloads: 'Bodies of events',
  audit: 'Rows of the audit log',
  effects: 'Rows of the effect ledger',
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

function PruneDialog({ bounds, onClose }: { bounds: readonly Bound[]; onClose: () => void }) {
  const prune = useAction('POST /retention/prune')
  const toast = useToasts()
  const perform = async (reason: string | undefined) => {
    const { pruned } = await prune.mutateAsync({ body: { reason } })
    const total = Object.values(pruned).reduce((sum, count) => sum + count, 0)
    toast(total === 0 ? 'Nothing was old enough.' : `Removed ${formatCount(total)} rows.`)
  }
  return (
    <Confirm title="Remove old data for good?" action="Prune now" isDangerous onClose={onClose} perform={perform}>
      <ul className="stack tight">
        {bounds.map(({ kind, before }) => (
          <li className="row" key={kind}>
            {WORDS[kind]}
            <span className="quiet push">
              {before === null ? (
                'kept for ever'
              ) : (
                <>
                  older than <Moment at={before} />
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
    </Confirm>
  )
}
