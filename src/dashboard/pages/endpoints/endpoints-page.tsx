import { useState } from 'react'
import { Link } from 'wouter'
import { useApi } from '../../api/use-api.ts'
import { Empty, Loaded } from '../../parts/messages.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { When } from '../../parts/when.tsx'
import { useMay } from '../../state/session.ts'
import { countOf } from '../../words/format.ts'
import { type Endpoint, EndpointStatus } from './endpoint-status.tsx'
import { NewEndpoint } from './new-endpoint.tsx'

/** Endpoints: addresses of ours that receive deliveries. */
export default function Endpoints() {
  const endpoints = useApi('GET /endpoints', {})
  const [isAdding, setAdding] = useState(false)
  const mayAdd = useMay('admin')
  return (
    <div className="stack">
      <PageHead title="Endpoints">
        {mayAdd && (
          <button type="button" className="main" onClick={() => setAdding(true)}>
            New endpoint…
          </button>
        )}
      </PageHead>
      {isAdding && <NewEndpoint onClose={() => setAdding(false)} />}
      <Loaded of={endpoints}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No endpoint yet.">
              <p>An endpoint is the address to which the service sends its events.</p>
              <code>upshot endpoints add main</code>
            </Empty>
          ) : (
            <div className="columns">
              {items.map((endpoint) => (
                <EndpointCard key={endpoint.id} endpoint={endpoint} />
              ))}
            </div>
          )
        }
      </Loaded>
    </div>
  )
}

function EndpointCard({ endpoint }: { endpoint: Endpoint }) {
  const { name, url, path, events, account, secrets, status } = endpoint
  const lastUsed = secrets.map(({ lastUsedAt }) => lastUsedAt).findLast((at) => at !== null) ?? null
  return (
    <article className="card padded stack">
      <div className="row">
        <h2>
          <Link href={`/endpoints/${encodeURIComponent(name)}`}>{name}</Link>
        </h2>
        <EndpointStatus status={status} />
      </div>
      <code className="wrap">{url ?? path}</code>
      <p className="quiet small">
        {events.join(', ')} · account {account} · {countOf(secrets.length, 'secret')}
      </p>
      <p className="small">
        Last good delivery <When at={lastUsed} />
      </p>
    </article>
  )
}
