import { useState } from 'react'
import { useLocation } from 'wouter'
import type { InputOf } from '../../../admin/contract/routes.ts'
import { useAction, useApi } from '../../api/use-api.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { countOf } from '../../words/format.ts'

type Start = InputOf<'POST /operations'>['body']

const VERBS = { retry: 'Retry', resolve: 'Resolve', resume: 'Resume', cancel: 'Cancel' } as const
type Kind = keyof typeof VERBS

/** The operations on all runs of a tab. */
const KINDS: Readonly<Record<string, readonly Kind[]>> = {
  failed: ['resolve', 'retry'],
  person: ['resume'],
  waiting: ['cancel'],
  pending: ['cancel'],
  running: ['cancel'],
}

/** An operation on all runs of the filter, in the background; runs made later are left out. */
export function MatchAll({ status, filter }: { status: string; filter: Record<string, unknown> }) {
  const [chosen, setChosen] = useState<Kind | null>(null)
  return (
    <>
      {KINDS[status]?.map((kind) => (
        <button key={kind} type="button" className={kind === 'cancel' ? 'danger' : ''} onClick={() => setChosen(kind)}>
          {VERBS[kind]} all that match…
        </button>
      ))}
      {chosen && <MatchDialog kind={chosen} filter={given(filter)} onClose={() => setChosen(null)} />}
    </>
  )
}

function MatchDialog({ kind, filter, onClose }: { kind: Kind; filter: object; onClose: () => void }) {
  const start = useAction('POST /operations')
  const first = useApi('GET /runs', { query: { ...filter, limit: 50 } })
  const [, go] = useLocation()
  const shown = first.data?.items.length ?? 0
  const many = first.data?.next === null ? countOf(shown, 'run') : `more than ${countOf(shown, 'run')}`
  const perform = async (reason: string | undefined) => {
    const body: Start = { kind, filter, reason }
    await start.mutateAsync({ body })
    go('/system?tab=operations')
  }
  return (
    <Confirm
      title={`${VERBS[kind]} all runs that match?`}
      action={`${VERBS[kind]} them`}
      isDangerous={kind === 'cancel'}
      isReasonNeeded={kind === 'resolve'}
      onClose={onClose}
      perform={perform}
    >
      <p>
        It is {many}. The operation goes on in the background, survives a crash, and can be aborted. Its progress is on
        the page System.
      </p>
    </Confirm>
  )
}

/** The filter without its empty parts. */
function given(filter: Record<string, unknown>): object {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== '' && value !== undefined))
}
