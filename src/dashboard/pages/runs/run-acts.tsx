import { useLocation } from 'wouter'
import { ApiError, call } from '../../api/client.ts'
import { useApi } from '../../api/use-api.ts'
import { Act } from '../../parts/act.tsx'
import { useToasts } from '../../state/toasts.tsx'
import { countOf, givenOnly } from '../../words/format.ts'

const SELECTED = [
  { to: 'POST /runs/:id/retry', verb: 'Retry', done: 'retried' },
  { to: 'POST /runs/:id/resume', verb: 'Resume', done: 'resumed' },
  { to: 'POST /runs/:id/cancel', verb: 'Cancel', done: 'canceled' },
] as const

/** The actions on the selected runs. Each run is asked for itself, so that one refusal stops none. */
export function BulkBar({ ids, clear }: { ids: readonly string[]; clear: () => void }) {
  const toast = useToasts()
  const perform = async ({ to, done }: (typeof SELECTED)[number], body: object) => {
    const answers = await Promise.allSettled(ids.map((id) => call(to, { params: { id }, body })))
    const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []))
    const why = refused[0] instanceof ApiError ? `: ${refused[0].problem.detail}` : ''
    const words = `${countOf(ids.length - refused.length, 'run')} ${done}`
    toast(`${words}${refused.length > 0 ? `, ${refused.length} refused${why}` : ''}.`, refused.length > 0)
  }
  return (
    <div className="bulk">
      <strong>{ids.length} selected</strong>
      {SELECTED.map((act) => (
        <Act
          key={act.verb}
          label={`${act.verb}…`}
          look={act.verb === 'Cancel' ? 'danger' : undefined}
          title={`${act.verb} ${countOf(ids.length, 'run')}?`}
          action={`${act.verb} ${countOf(ids.length, 'run')}`}
          isDangerous={act.verb === 'Cancel'}
          to={act.to}
          perform={({ body }) => perform(act, body) as never}
          then={clear}
        >
          <ul className="small mono">
            {ids.slice(0, 10).map((id) => (
              <li key={id}>{id}</li>
            ))}
          </ul>
        </Act>
      ))}
      <button type="button" className="plain" onClick={clear}>
        Clear the selection
      </button>
    </div>
  )
}

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
  const [, go] = useLocation()
  return KINDS[status]?.map((kind) => (
    <Act
      key={kind}
      label={`${VERBS[kind]} all that match…`}
      look={kind === 'cancel' ? 'danger' : undefined}
      title={`${VERBS[kind]} all runs that match?`}
      action={`${VERBS[kind]} them`}
      isDangerous={kind === 'cancel'}
      isReasonNeeded={kind === 'resolve'}
      to="POST /operations"
      given={{ body: { kind, filter: givenOnly(filter) } }}
      then={() => go('/system?tab=operations')}
    >
      <Count filter={givenOnly(filter)} />
    </Act>
  ))
}

function Count({ filter }: { filter: object }) {
  const first = useApi('GET /runs', { query: { ...filter, limit: 50 } })
  const shown = countOf(first.data?.items.length ?? 0, 'run')
  return (
    <p>
      {first.data ? `It is ${first.data.next === null ? shown : `more than ${shown}`}.` : 'Counting…'} The operation
      goes on in the background, survives a crash, and can be aborted. Its progress is on the page System.
    </p>
  )
}
