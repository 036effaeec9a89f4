import { useState } from 'react'
import type { InputOf } from '../../../admin/contract/routes.ts'
import { useAction, useApi } from '../../api/use-api.ts'
import { Confirm } from '../../parts/confirm.tsx'

type Kind = InputOf<'POST /effects/stop'>['body']['kind']

/** Asks what to stop, and why: the runs that wait show the reason. */
export function StopDialog({ onClose }: { onClose: () => void }) {
  const [kind, setKind] = useState<Kind>('all')
  const [name, setName] = useState('')
  const stop = useAction('POST /effects/stop')
  const names = useNames(kind)
  const chosen = names.includes(name) ? name : (names[0] ?? '')
  return (
    <Confirm
      title="Stop deletes and `once` steps"
      action="Stop them"
      isDangerous
      isReasonNeeded
      onClose={onClose}
      perform={(reason = '') => stop.mutateAsync({ body: { kind, name: kind === 'all' ? '' : chosen, reason } })}
    >
      <p>From now on none of them begins, in any process, also after a restart, until somebody resumes them.</p>
      <label>
        What
        <select value={kind} onChange={(event) => setKind(event.target.value as Kind)}>
          <option value="all">everything</option>
          <option value="workflow">one workflow</option>
          <option value="account">one account</option>
          <option value="storage">one storage</option>
        </select>
      </label>
      {kind !== 'all' && (
        <label>
          Which
          <select value={chosen} onChange={(event) => setName(event.target.value)}>
            {names.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      )}
    </Confirm>
  )
}

function useNames(kind: Kind): readonly string[] {
  const workflows = useApi('GET /workflows', {}, { isEnabled: kind === 'workflow' })
  const accounts = useApi('GET /accounts', {}, { isEnabled: kind === 'account' })
  if (kind === 'workflow') return workflows.data?.items.map(({ id }) => id) ?? []
  if (kind === 'account') return accounts.data?.items.map(({ name }) => name) ?? []
  return kind === 'storage' ? ['storage_a', 'storage_b', 'storage_c'] : []
}
