import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { RouteName } from '../../../admin/contract/routes.ts'
import { ApiError, call } from '../../api/client.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { useToasts } from '../../state/toasts.tsx'
import { countOf } from '../../words/format.ts'

type BulkRoute = Extract<RouteName, 'POST /runs/:id/retry' | 'POST /runs/:id/cancel' | 'POST /runs/:id/resume'>

const OPERATIONS = [
  { route: 'POST /runs/:id/retry', verb: 'Retry', done: 'retried', isDangerous: false },
  { route: 'POST /runs/:id/resume', verb: 'Resume', done: 'resumed', isDangerous: false },
  { route: 'POST /runs/:id/cancel', verb: 'Cancel', done: 'canceled', isDangerous: true },
] as const satisfies { route: BulkRoute; verb: string; done: string; isDangerous: boolean }[]

/** The actions on the selected runs. Each run is asked for itself, so that one refusal stops none. */
export function BulkBar({ ids, clear }: { ids: readonly string[]; clear: () => void }) {
  const [chosen, setChosen] = useState<(typeof OPERATIONS)[number] | null>(null)
  const client = useQueryClient()
  const toast = useToasts()
  const perform = async (reason: string | undefined) => {
    if (!chosen) return
    const answers = await Promise.allSettled(ids.map((id) => call(chosen.route, { params: { id }, body: { reason } })))
    const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []))
    const done = countOf(ids.length - refused.length, 'run')
    const why = refused[0] instanceof ApiError ? `: ${refused[0].problem.detail}` : ''
    toast(`${done} ${chosen.done}${refused.length > 0 ? `, ${refused.length} refused${why}` : ''}.`, refused.length > 0)
    await client.invalidateQueries()
    clear()
  }
  return (
    <div className="bulk">
      <strong>{ids.length} selected</strong>
      {OPERATIONS.map((operation) => (
        <button
          key={operation.verb}
          type="button"
          className={operation.isDangerous ? 'danger' : ''}
          onClick={() => setChosen(operation)}
        >
          {operation.verb}…
        </button>
      ))}
      <button type="button" className="plain" onClick={clear}>
        Clear the selection
      </button>
      {chosen && (
        <Confirm
          title={`${chosen.verb} ${countOf(ids.length, 'run')}?`}
          action={`${chosen.verb} ${countOf(ids.length, 'run')}`}
          isDangerous={chosen.isDangerous}
          onClose={() => setChosen(null)}
          perform={perform}
        >
          <ul className="small mono">
            {ids.slice(0, 10).map((id) => (
              <li key={id}>{id}</li>
            ))}
          </ul>
        </Confirm>
      )}
    </div>
  )
}
