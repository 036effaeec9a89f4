import { useState } from 'react'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useAction } from '../../api/use-api.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/messages.tsx'
import { useToasts } from '../../state/toasts.tsx'
import { describeFault } from '../../words/fault.ts'
import { FaultDialog } from './fault-dialog.tsx'

type Fault = AnswerOf<'GET /sandbox'>['faults'][number]

const COLUMNS: readonly Column<Fault>[] = [
  { title: 'On', width: '160px', cell: ({ on }) => <code>{on}</code> },
  { title: 'Does', className: 'wide', cell: (fault) => describeFault(fault) },
  {
    title: 'Struck',
    width: '150px',
    cell: ({ struck, times }) => (
      <span className="quiet">{times === null ? `${struck} times` : `${struck} of ${times} times`}</span>
    ),
  },
  { title: 'End it', width: '110px', cell: (fault) => <Remove id={fault.id} /> },
]

/** Errors on purpose, of the service's answers and its deliveries. */
export function FaultCard({ faults }: { faults: readonly Fault[] }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <section className="stack" aria-label="Faults">
      <div className="row">
        <h2>Faults</h2>
        <button type="button" className="push" onClick={() => setOpen(true)}>
          Add a fault…
        </button>
      </div>
      {faults.length === 0 ? (
        <Empty title="No fault is set.">
          <p>A fault makes the service fail on purpose: an error, a delay, a lost or a forged delivery.</p>
        </Empty>
      ) : (
        <DataTable label="Faults" columns={COLUMNS} rows={faults} keyOf={({ id }) => id} />
      )}
      {isOpen && <FaultDialog onClose={() => setOpen(false)} />}
    </section>
  )
}

function Remove({ id }: { id: string }) {
  const toast = useToasts()
  const remove = useAction('DELETE /sandbox/faults/:id')
  return (
    <button
      type="button"
      className="plain"
      disabled={remove.isPending}
      onClick={() => remove.mutate({ params: { id } }, { onError: (error) => toast(error.message, true) })}
    >
      Remove
    </button>
  )
}
