import { Link, useLocation } from 'wouter'
import { useApi } from '../../api/use-api.ts'
import { Act, SecretOnce } from '../../parts/act.tsx'
import { Empty, Loaded } from '../../parts/messages.tsx'
import { PageHead } from '../../parts/page.tsx'
import type { Field } from '../../parts/read-fields.ts'
import { Look } from '../../parts/text.tsx'
import { When } from '../../parts/when.tsx'
import { useMay } from '../../state/session.ts'
import { countOf } from '../../words/format.ts'
import { type Endpoint, lookOfEndpoint } from '../../words/states.ts'

const NEW: readonly Field[] = [
  { name: 'name', label: 'Name', isRequired: true, example: 'main' },
  { name: 'events', label: 'Events', hint: 'separated by commas', value: '*' },
  { name: 'learn', label: 'Learn the signature scheme from the first deliveries', kind: 'check' },
]

/** Endpoints: addresses of ours that receive deliveries. */
export default function Endpoints() {
  const endpoints = useApi('GET /endpoints', {})
  const mayAdd = useMay('admin')
  const [, go] = useLocation()
  return (
    <div className="stack">
      <PageHead title="Endpoints">
        {mayAdd && (
          <Act
            label="New endpoint…"
            look="main"
            title="New endpoint"
            action="Make the endpoint"
            fields={NEW}
            to="POST /endpoints"
            given={({ events, ...rest }) => ({
              body: { ...rest, events: String(events).split(/\s*,\s*/) },
            })}
            then={({ secret, endpoint: { name } }) => {
              const open = () => go(hrefOf(name))
              return secret === null ? open() : <SecretOnce secret={secret} onClose={open} />
            }}
          />
        )}
      </PageHead>
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

const hrefOf = (name: string) => `/endpoints/${encodeURIComponent(name)}`

function EndpointCard({ endpoint }: { endpoint: Endpoint }) {
  const { name, url, path, events, account, secrets, status } = endpoint
  const lastUsed = secrets.map(({ lastUsedAt }) => lastUsedAt).findLast((at) => at !== null) ?? null
  return (
    <article className="card padded stack">
      <div className="row">
        <h2>
          <Link href={hrefOf(name)}>{name}</Link>
        </h2>
        <Look look={lookOfEndpoint(status)} />
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
