import { useState } from 'react'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { urlOf } from '../../api/client.ts'
import { useAction, useApi } from '../../api/use-api.ts'
import { Meter } from '../../parts/charts/meter.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Loaded } from '../../parts/messages.tsx'
import { When } from '../../parts/when.tsx'
import { useMay } from '../../state/session.ts'
import { formatBytes, formatCount } from '../../words/format.ts'
import { StopDialog } from './stop-dialog.tsx'

type Guard = AnswerOf<'GET /guard'>
type Use = Guard['use'][number]
type Stop = Guard['stops'][number]

/** The use of each limit on effects now, the stops in force, and the switch for them. */
export function GuardPanel() {
  const guard = useApi('GET /guard', {})
  const mayAct = useMay('operator')
  const [isStopping, setStopping] = useState(false)
  return (
    <section className="stack" aria-label="Guard">
      <div className="row">
        <h2>Guard</h2>
        <div className="row push">
          {mayAct && (
            <button type="button" className="danger" onClick={() => setStopping(true)}>
              Stop effects…
            </button>
          )}
          <CopyAs cli="upshot guard show" url={urlOf('GET /guard', {})} />
        </div>
      </div>
      <Loaded of={guard}>
        {({ isOn, use, stops }) => (
          <>
            {stops.map((stop) => (
              <StopNote key={`${stop.kind} ${stop.name}`} stop={stop} />
            ))}
            {!isOn && <p className="problem">The guard is off (UPSHOT_GUARD=off): no limit holds a delete.</p>}
            {use.length === 0 ? (
              <p className="quiet">Nothing was deleted within a day.</p>
            ) : (
              <DataTable label="Use of the limits" columns={COLUMNS} rows={use} keyOf={keyOf} />
            )}
          </>
        )}
      </Loaded>
      {isStopping && <StopDialog onClose={() => setStopping(false)} />}
    </section>
  )
}

const keyOf = ({ scope, class: kind, window }: Use) => `${scope} ${kind} ${window}`

const COLUMNS: readonly Column<Use>[] = [
  { title: 'Scope', className: 'wide', cell: ({ scope }) => scope.replaceAll('/', ' ') },
  {
    title: 'Counts',
    width: '150px',
    cell: ({ class: kind, window }) => (
      <span className="quiet">{`${kind === 'approved' ? 'approved' : `${kind}s`}, 1 ${window}`}</span>
    ),
  },
  {
    title: 'Used',
    width: '32%',
    cell: ({ scope, window, count, limit }) =>
      limit === null ? formatCount(count) : <Meter label={`${scope}, 1 ${window}`} value={count} most={limit} />,
  },
  { title: 'Bytes', width: '92px', className: 'number', cell: ({ bytes }) => formatBytes(bytes) },
]

function StopNote({ stop }: { stop: Stop }) {
  const { kind, name, since, actor, reason } = stop
  const mayAct = useMay('operator')
  const [isOpen, setOpen] = useState(false)
  const resume = useAction('POST /effects/resume')
  const what = kind === 'all' ? 'All effects' : `Effects of the ${kind} ${name}`
  return (
    <div className="problem row">
      <p className="wrap grow">
        <strong>{what} are stopped</strong> since <When at={since} /> by {actor}: {reason}
      </p>
      {mayAct && (
        <button type="button" onClick={() => setOpen(true)}>
          Resume…
        </button>
      )}
      {isOpen && (
        <Confirm
          title={`Let ${what.toLowerCase()} go on?`}
          action="Resume"
          onClose={() => setOpen(false)}
          perform={(because) => resume.mutateAsync({ body: { kind, name, reason: because } })}
        >
          <p>The runs that it holds go on at once.</p>
        </Confirm>
      )}
    </div>
  )
}
