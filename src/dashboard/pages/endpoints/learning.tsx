import { useState } from 'react'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useAction, useApi } from '../../api/use-api.ts'
import { Loaded, ProblemNote } from '../../parts/messages.tsx'
import { When } from '../../parts/when.tsx'
import { countOf, formatBytes } from '../../words/format.ts'
import type { Endpoint } from '../../words/states.ts'

type Solution = AnswerOf<'POST /endpoints/:name/solve'>

/** From the first capture to a pinned scheme: capture, secret, solve, pin. Leaving loses nothing. */
export function Learning({ endpoint }: { endpoint: Endpoint }) {
  const { name } = endpoint
  const captures = useApi('GET /endpoints/:name/captures', { params: { name } })
  const solve = useAction('POST /endpoints/:name/solve')
  const [secret, setSecret] = useState('')
  const body = secret === '' ? {} : { secret }
  return (
    <section className="card padded stack" aria-label="Learn the signature scheme">
      <h2>Learn the signature scheme</h2>
      <ol className="stack">
        <li>
          1. Give the service this address: <code className="wrap">{endpoint.url ?? endpoint.path}</code>
        </li>
        <li>
          2. Let it send something.{' '}
          <Loaded of={captures}>
            {({ items }) => (
              <>
                <strong>{countOf(items.length, 'delivery', 'deliveries')} captured</strong>
                <ul className="small quiet">
                  {items.slice(-3).map(({ id, receivedAt, bodyBytes, headers }) => (
                    <li key={id}>
                      <When at={receivedAt} /> · {formatBytes(bodyBytes)} · {headers.join(', ')}
                    </li>
                  ))}
                </ul>
              </>
            )}
          </Loaded>
        </li>
        <li className="form">
          <label>
            3. The secret of the webhook, if Upshot does not have it yet
            <input
              type="password"
              autoComplete="off"
              value={secret}
              onChange={(event) => setSecret(event.target.value)}
            />
          </label>
          <div className="row">
            <button
              type="button"
              className="main"
              disabled={solve.isPending || endpoint.captures === 0}
              onClick={() => solve.mutate({ params: { name }, body })}
            >
              Find the scheme
            </button>
            {solve.data?.kind === 'match' && !solve.data.isPinned && (
              <button type="button" onClick={() => solve.mutate({ params: { name }, body: { ...body, pin: true } })}>
                Pin it and take deliveries
              </button>
            )}
          </div>
          {solve.error && <ProblemNote error={solve.error} />}
          {solve.data && <SolutionNote solution={solve.data} />}
        </li>
      </ol>
    </section>
  )
}

function SolutionNote({ solution }: { solution: Solution }) {
  const { kind, scheme, advice, tried } = solution
  if (kind === 'match') {
    return (
      <div className="stack" role="status">
        <span className="status" data-state="completed">
          ✓ It fits
        </span>
        <pre>{JSON.stringify(scheme, null, 2)}</pre>
      </div>
    )
  }
  return (
    <p className="wrap" role="status">
      {kind === 'near' ? 'Nearly: ' : `None of ${tried} schemes fits. `}
      {advice}
    </p>
  )
}
