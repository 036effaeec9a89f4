import { Link } from 'wouter'
import { useApi } from '../../api/use-api.ts'
import { Empty, Loaded } from '../../parts/messages.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { RunTable } from '../../parts/run-table.tsx'
import { When } from '../../parts/when.tsx'
import { countOf } from '../../words/format.ts'

/** Rows of a question that only counts; more is said as "50+". */
const COUNTED = 50

/** What needs a person now, what ran last, and what comes next. */
export default function Overview() {
  const newest = useApi('GET /runs', { query: { limit: 12 } })
  return (
    <div className="stack">
      <PageHead title="Overview" />
      <NeedsYou />
      <section className="stack" aria-label="Newest runs">
        <h2>Newest runs</h2>
        <Loaded of={newest}>{({ items }) => (items.length === 0 ? <FirstSteps /> : <RunTable runs={items} />)}</Loaded>
      </section>
      <UpNext />
    </div>
  )
}

interface Need {
  href: string
  glyph: string
  state: string
  text: string
}

function NeedsYou() {
  const failures = useApi('GET /failures', { query: { since: '24h' } })
  const person = useApi('GET /runs', { query: { needsPerson: 'true', limit: COUNTED } })
  const endpoints = useApi('GET /endpoints', {})
  const schedules = useApi('GET /schedules', {})
  if (!failures.data || !person.data || !endpoints.data || !schedules.data) return null
  const needs: Need[] = [
    ...needsOfFailures(failures.data.items),
    ...needOf(person.data.items.length, {
      href: '/runs?status=person',
      glyph: '☞',
      state: 'person',
      noun: 'run',
      rest: 'waiting for a person',
    }),
    ...endpoints.data.items
      .filter(({ status }) => status === 'learning')
      .map(({ name }) =>
        need(`/endpoints/${name}`, '◔', 'waiting', `Endpoint ${name} is learning its signature scheme`),
      ),
    ...schedules.data.items
      .filter(({ missed }) => missed > 0)
      .map(({ workflow, missed }) =>
        need('/schedules', '!', 'waiting', `${workflow} missed ${countOf(missed, 'tick')}`),
      ),
  ]
  return (
    <section className="card needs" aria-label="Needs you">
      {needs.length === 0 && (
        <p className="quiet">
          <span className="status" data-state="completed" aria-hidden="true">
            ✓
          </span>
          Nothing needs you.
        </p>
      )}
      {needs.map(({ href, glyph, state, text }) => (
        <Link key={text} href={href}>
          <span className="status" data-state={state} aria-hidden="true">
            {glyph}
          </span>
          {text}
          <span className="push quiet" aria-hidden="true">
            →
          </span>
        </Link>
      ))}
    </section>
  )
}

function need(href: string, glyph: string, state: string, text: string): Need {
  return { href, glyph, state, text }
}

function needOf(count: number, { noun, rest, ...look }: Omit<Need, 'text'> & { noun: string; rest: string }): Need[] {
  if (count === 0) return []
  const counted = count === COUNTED ? `${COUNTED}+ ${noun}s` : countOf(count, noun)
  return [{ ...look, text: `${counted} ${rest}` }]
}

/** Open kinds of failures; the snoozed and resolved ones need nobody. */
function needsOfFailures(groups: readonly { state: string; runs: number }[]): Need[] {
  const open = groups.filter(({ state }) => state === 'open')
  const runs = open.reduce((sum, group) => sum + group.runs, 0)
  if (runs === 0) return []
  const text = `${countOf(runs, 'run')} failed in the last 24 hours, of ${countOf(open.length, 'kind')}`
  return [need('/failures', '✗', 'failed', text)]
}

function UpNext() {
  const schedules = useApi('GET /schedules', {})
  const running = schedules.data?.items.filter(({ pausedAt }) => pausedAt === null) ?? []
  if (running.length === 0) return null
  return (
    <section className="stack" aria-label="Up next">
      <h2>Up next</h2>
      <ul className="row">
        {running.map(({ workflow }) => (
          <li className="card padded" key={workflow}>
            <Link href={`/workflows/${encodeURIComponent(workflow)}`}>{workflow}</Link> <NextTick workflow={workflow} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function NextTick({ workflow }: { workflow: string }) {
  const next = useApi('GET /schedules/:workflow/next', { params: { workflow }, query: { count: 1 } })
  return <When at={next.data?.items[0] ?? null} />
}

function FirstSteps() {
  return (
    <Empty title="Nothing has run yet.">
      <p>
        Give the service the address of an <Link href="/endpoints">endpoint</Link>, or make an event of your own:
      </p>
      <code>upshot events trigger transfer.completed</code>
    </Empty>
  )
}
