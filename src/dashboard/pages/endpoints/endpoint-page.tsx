import { useState } from 'react'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useAction, useApi } from '../../api/use-api.ts'
import { Act, ActNow, SecretOnce } from '../../parts/act.tsx'
import { Loaded, ProblemNote } from '../../parts/messages.tsx'
import { Card, DetailPage } from '../../parts/page.tsx'
import { Look } from '../../parts/text.tsx'
import { When } from '../../parts/when.tsx'
import { useMay } from '../../state/session.ts'
import { countOf, formatBytes } from '../../words/format.ts'
import { type Endpoint, lookOfEndpoint } from '../../words/states.ts'

/** One endpoint: its address, its secrets, and the way from the first capture to a pinned scheme. */
export default function EndpointPage({ name }: { name: string }) {
  const endpoint = useApi('GET /endpoints/:name', { params: { name } })
  const mayAct = useMay('admin')
  return (
    <DetailPage
      of={endpoint}
      title={name}
      above={[['/endpoints', 'Endpoints']]}
      head={(found) => ({
        title: found.name,
        beside: <Look look={lookOfEndpoint(found.status)} />,
        children: mayAct && <Actions endpoint={found} />,
        facts: [
          ['Address', <code key="url">{found.url ?? found.path}</code>],
          ['Events', found.events.join(', ')],
          ['Account', found.account],
          ['Created', <When key="created" at={found.createdAt} />],
          found.keeper !== null && ['Kept by', found.keeper],
        ],
      })}
    >
      {(found) => (
        <>
          {found.status === 'learning' && mayAct && <Learning endpoint={found} />}
          <div className="columns">
            <Card title="Secrets">
              <ul className="stack">
                {found.secrets.map(({ position, activeFrom, until, lastUsedAt }) => (
                  <li key={position}>
                    Secret {position + 1} <span className="quiet">since </span>
                    <When at={activeFrom} />
                    <span className="quiet">, last used </span>
                    <When at={lastUsedAt} />
                    {until !== null && (
                      <>
                        <span className="quiet">, ends </span>
                        <When at={until} />
                      </>
                    )}
                  </li>
                ))}
              </ul>
            </Card>
            <Card title="Signature scheme">
              <pre>{JSON.stringify(found.scheme, null, 2)}</pre>
            </Card>
          </div>
        </>
      )}
    </DetailPage>
  )
}

function Actions({ endpoint: { name, status, secrets } }: { endpoint: Endpoint }) {
  const given = { params: { name } }
  const isDisabled = status === 'disabled'
  return (
    <>
      <ActNow
        label="Test"
        to="POST /endpoints/:name/test"
        input={{ ...given, body: {} }}
        tell={({ isPassed }) => [isPassed ? '✓ signed taken, forged refused' : '✗ the test failed', !isPassed]}
      />
      <Act
        label="Rotate the secret…"
        title={`Rotate the secret of ${name}?`}
        action="Make a new secret"
        to="POST /endpoints/:name/rotate"
        given={given}
        then={({ secret }) => <SecretOnce secret={secret} />}
      >
        <p>The old secret stays valid for 24 hours, so that nothing is refused meanwhile.</p>
      </Act>
      {secrets.length > 1 && (
        <Act
          label="Retire old secrets…"
          title={`Retire the old secrets of ${name}?`}
          action="Retire them now"
          isDangerous
          to="POST /endpoints/:name/retire"
          given={given}
        >
          <p>Deliveries that are signed with one of them are refused from now on.</p>
        </Act>
      )}
      <Act
        label={isDisabled ? 'Enable…' : 'Disable…'}
        look={isDisabled ? undefined : 'danger'}
        title={`${isDisabled ? 'Enable' : 'Disable'} ${name}?`}
        action={isDisabled ? 'Enable' : 'Disable'}
        isDangerous={!isDisabled}
        to="PATCH /endpoints/:name"
        given={{ ...given, body: { status: isDisabled ? 'active' : 'disabled' } }}
      >
        <p>{isDisabled ? 'It takes deliveries again.' : 'Every delivery to it is refused with 401.'}</p>
      </Act>
    </>
  )
}

type Solution = AnswerOf<'POST /endpoints/:name/solve'>

/** From the first capture to a pinned scheme: capture, secret, solve, pin. Leaving loses nothing. */
function Learning({ endpoint }: { endpoint: Endpoint }) {
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
              <button
                type="button"
                onClick={() => solve.mutate({ params: { name }, body: { ...solve.variables?.body, pin: true } })}
              >
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
