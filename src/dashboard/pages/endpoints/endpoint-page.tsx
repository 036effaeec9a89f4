import { useState } from 'react'
import { Link } from 'wouter'
import { useAction, useApi } from '../../api/use-api.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { LoadedPage, ProblemNote } from '../../parts/messages.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { SecretOnce } from '../../parts/secret-once.tsx'
import { Facts } from '../../parts/text.tsx'
import { When } from '../../parts/when.tsx'
import { useMay } from '../../state/session.ts'
import { type Endpoint, EndpointStatus } from './endpoint-status.tsx'
import { Learning } from './learning.tsx'

/** One endpoint: its address, its secrets, and the way from the first capture to a pinned scheme. */
export default function EndpointPage({ name }: { name: string }) {
  const endpoint = useApi('GET /endpoints/:name', { params: { name } })
  const mayAct = useMay('admin')
  return (
    <LoadedPage of={endpoint} title={name}>
      {(found) => (
        <div className="stack">
          <div>
            <p className="crumbs">
              <Link href="/endpoints">Endpoints</Link>
            </p>
            <PageHead title={found.name} beside={<EndpointStatus status={found.status} />}>
              {mayAct && <Actions endpoint={found} />}
            </PageHead>
            <Facts
              facts={[
                ['Address', <code key="url">{found.url ?? found.path}</code>],
                ['Events', found.events.join(', ')],
                ['Account', found.account],
                ['Made', <When key="made" at={found.createdAt} />],
                found.keeper === null ? null : ['Kept by', found.keeper],
              ]}
            />
          </div>
          {found.status === 'learning' && mayAct && <Learning endpoint={found} />}
          <div className="columns">
            <Secrets endpoint={found} />
            <section className="card padded stack" aria-label="Signature scheme">
              <h2>Signature scheme</h2>
              <pre>{JSON.stringify(found.scheme, null, 2)}</pre>
            </section>
          </div>
        </div>
      )}
    </LoadedPage>
  )
}

function Secrets({ endpoint }: { endpoint: Endpoint }) {
  return (
    <section className="card padded stack" aria-label="Secrets">
      <h2>Secrets</h2>
      <ul className="stack">
        {endpoint.secrets.map(({ position, activeFrom, until, lastUsedAt }) => (
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
    </section>
  )
}

type Dialog = 'rotate' | 'disable' | 'retire' | 'remove'

function Actions({ endpoint }: { endpoint: Endpoint }) {
  const [dialog, setDialog] = useState<Dialog | null>(null)
  const [secret, setSecret] = useState<string | null>(null)
  const params = { name: endpoint.name }
  const rotate = useAction('POST /endpoints/:name/rotate')
  const change = useAction('PATCH /endpoints/:name')
  const retire = useAction('POST /endpoints/:name/retire')
  const isDisabled = endpoint.status === 'disabled'
  const close = () => setDialog(null)
  return (
    <>
      <Test name={endpoint.name} />
      <button type="button" onClick={() => setDialog('rotate')}>
        Rotate the secret…
      </button>
      {endpoint.secrets.length > 1 && (
        <button type="button" onClick={() => setDialog('retire')}>
          Retire old secrets…
        </button>
      )}
      <button type="button" className={isDisabled ? '' : 'danger'} onClick={() => setDialog('disable')}>
        {isDisabled ? 'Enable…' : 'Disable…'}
      </button>
      {dialog === 'rotate' && (
        <Confirm
          title={`Rotate the secret of ${endpoint.name}?`}
          action="Make a new secret"
          onClose={close}
          perform={async (reason) => setSecret((await rotate.mutateAsync({ params, body: { reason } })).secret)}
        >
          <p>The old secret stays valid for 24 hours, so that nothing is refused meanwhile.</p>
        </Confirm>
      )}
      {dialog === 'retire' && (
        <Confirm
          title={`Retire the old secrets of ${endpoint.name}?`}
          action="Retire them now"
          isDangerous
          onClose={close}
          perform={(reason) => retire.mutateAsync({ params, body: { reason } })}
        >
          <p>Deliveries that are signed with one of them are refused from now on.</p>
        </Confirm>
      )}
      {dialog === 'disable' && (
        <Confirm
          title={`${isDisabled ? 'Enable' : 'Disable'} ${endpoint.name}?`}
          action={isDisabled ? 'Enable' : 'Disable'}
          isDangerous={!isDisabled}
          onClose={close}
          perform={(reason) =>
            change.mutateAsync({ params, body: { status: isDisabled ? 'active' : 'disabled', reason } })
          }
        >
          <p>{isDisabled ? 'It takes deliveries again.' : 'Every delivery to it is refused with 401.'}</p>
        </Confirm>
      )}
      {secret !== null && <SecretOnce secret={secret} onClose={() => setSecret(null)} />}
    </>
  )
}

function Test({ name }: { name: string }) {
  const test = useAction('POST /endpoints/:name/test')
  return (
    <>
      <button type="button" disabled={test.isPending} onClick={() => test.mutate({ params: { name }, body: {} })}>
        Test
      </button>
      {test.error && <ProblemNote error={test.error} />}
      {test.data && (
        <span className="status" data-state={test.data.isPassed ? 'completed' : 'failed'} role="status">
          {test.data.isPassed ? '✓ signed taken, forged refused' : '✗ the test failed'}
        </span>
      )}
    </>
  )
}
