import { useState } from 'react'
import { useLocation } from 'wouter'
import type { InputOf } from '../../../admin/contract/routes.ts'
import { useAction, useApi } from '../../api/use-api.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { useToasts } from '../../state/toasts.tsx'
import { countOf, formatCount } from '../../words/format.ts'

type Replay = InputOf<'POST /events/replay'>['body']

/** New runs of all events of the filter, in the background; events received later are left out. */
export function ReplayAll({ filter }: { filter: Record<string, string> }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Replay all that match…
      </button>
      {isOpen && <ReplayDialog filter={given(filter)} onClose={() => setOpen(false)} />}
    </>
  )
}

function ReplayDialog({ filter, onClose }: { filter: Replay['filter']; onClose: () => void }) {
  const replay = useAction('POST /events/replay')
  const workflows = useApi('GET /workflows', {})
  const [workflow, setWorkflow] = useState('')
  const [isDryRun, setDryRun] = useState(false)
  const [, go] = useLocation()
  const toast = useToasts()
  const perform = async (reason: string | undefined) => {
    const only = workflow === '' ? {} : { workflows: [workflow] }
    const { total, runs, refused } = await replay.mutateAsync({ body: { filter, ...only, isDryRun, reason } })
    if (!isDryRun) return go('/system?tab=operations')
    toast(`${countOf(total, 'event')} would make ${countOf(runs, 'new run')}; ${formatCount(refused)} are refused.`)
  }
  return (
    <Confirm
      title="Replay all events that match?"
      action={isDryRun ? 'Count them' : 'Replay them'}
      onClose={onClose}
      perform={perform}
    >
      <p>
        Each event makes new runs, oldest first, 100 events a second. Effects happen again. The operation survives a
        crash and can be aborted; its progress is on the page System.
      </p>
      <label>
        Workflow
        <select value={workflow} onChange={(event) => setWorkflow(event.target.value)}>
          <option value="">all that the types start</option>
          {workflows.data?.items.map(({ id }) => (
            <option key={id}>{id}</option>
          ))}
        </select>
      </label>
      <label className="row">
        <input type="checkbox" checked={isDryRun} onChange={(event) => setDryRun(event.target.checked)} />
        Only count what it would be
      </label>
    </Confirm>
  )
}

/** The filter without its empty parts. */
function given(filter: Record<string, string>): Replay['filter'] {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ''))
}
