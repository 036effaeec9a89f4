import { Link } from 'wouter'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useApi } from '../../api/use-api.ts'
import { HourBars } from '../../parts/charts/hour-bars.tsx'
import { Empty, Loaded } from '../../parts/messages.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { RunTable } from '../../parts/run-table.tsx'
import { When } from '../../parts/when.tsx'
import { countOf, formatCount } from '../../words/format.ts'
import { foldHours } from '../../words/hours.ts'

type Overview = AnswerOf<'GET /overview'>

/** The first look: matters for a person, the last day, the newest runs, and the next ticks. */
export default function OverviewPage() {
  const overview = useApi('GET /overview', {})
  const newest = useApi('GET /runs', { query: { limit: 12, withoutSkipped: 'true' } })
  return (
    <div className="stack">
      <PageHead title="Overview" />
      <Loaded of={overview} lines={12}>
        {(found) => (
          <>
            <NeedsYou overview={found} />
            <LastDay overview={found} />
          </>
        )}
      </Loaded>
      <section className="stack" aria-label="Newest runs">
        <h2>Newest runs</h2>
        <Loaded of={newest}>{({ items }) => (items.length === 0 ? <FirstSteps /> : <RunTable runs={items} />)}</Loaded>
      </section>
    </div>
  )
}

interface Need {
  href: string
  glyph: string
  state: string
  text: string
}

function NeedsYou({ overview }: { overview: Overview }) {
  const endpoints = useApi('GET /endpoints', {})
  const learning = endpoints.data?.items.filter(({ status }) => status === 'learning') ?? []
  const needs: Need[] = [
    ...needsOfRuns(overview),
    ...needsOfSafety(overview),
    ...needsOfAlerts(overview),
    ...overview.pausedWorkflows.map((id) =>
      need(`/workflows/${encodeURIComponent(id)}`, '⏸', 'waiting', `${id} is paused`),
    ),
    ...overview.missedTicks.map(({ workflow, missed }) =>
      need('/schedules', '!', 'waiting', `${workflow} missed ${countOf(missed, 'tick')}`),
    ),
    ...learning.map(({ name }) =>
      need(
        `/endpoints/${encodeURIComponent(name)}`,
        '◔',
        'waiting',
        `Endpoint ${name} is learning its signature scheme`,
      ),
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

function needsOfRuns({ failed, forPerson }: Overview): Need[] {
  return [
    ...(failed.count > 0
      ? [need('/failures', '✗', 'failed', `${countAll(failed, 'run')} failed in the last 24 hours`)]
      : []),
    ...(forPerson.count > 0
      ? [need('/runs?status=person', '☞', 'person', `${countAll(forPerson, 'run')} waiting for a person`)]
      : []),
  ]
}

function needsOfSafety({ approvals: { open, effects }, stops }: Overview): Need[] {
  const what = effects === 0 ? '' : `: ${countOf(effects, 'effect')}`
  return [
    ...(open > 0 ? [need('/approvals', '⚖', 'person', `${countOf(open, 'approval')}${what}`)] : []),
    ...(stops > 0
      ? [need('/approvals', '⏻', 'failed', `Effects are stopped: ${countOf(stops, 'stop')} in force`)]
      : []),
  ]
}

function needsOfAlerts({ alerts: { open, newest } }: Overview): Need[] {
  return open === 0 ? [] : [need('/system?tab=alerts', '!', 'failed', `${countOf(open, 'open alert')}: ${newest}`)]
}

function need(href: string, glyph: string, state: string, text: string): Need {
  return { href, glyph, state, text }
}

function countAll({ count, isMore }: Overview['failed'], noun: string): string {
  return isMore ? `${formatCount(count)}+ ${noun}s` : countOf(count, noun)
}

/** One line that adds up: requests that came, by what became of them; then runs by hour. */
function LastDay({ overview }: { overview: Overview }) {
  const { received, running, pending, oldestPendingAt } = overview
  const upNext = firstOfEach(overview.upNext)
  const all = received.accepted + received.duplicate + received.conflict + received.refused
  return (
    <section className="card padded stack" aria-label="Last 24 hours">
      <h2>Last 24 hours</h2>
      <HourBars hours={foldHours(overview.hours, Date.now())} />
      <p className="small">
        <Link href="/inbound">{formatCount(all)} received</Link>
        <span className="quiet">
          {' '}
          = {formatCount(received.accepted)} accepted + {formatCount(received.duplicate)} duplicate +{' '}
          {formatCount(received.conflict)} conflict + {formatCount(received.refused)} refused · now{' '}
          {countAll(running, 'run')} at work, {formatCount(pending.count)} pending
        </span>
        {oldestPendingAt !== null && (
          <span className="quiet">
            , oldest <When at={oldestPendingAt} />
          </span>
        )}
      </p>
      {upNext.length > 0 && (
        <p className="small">
          <span className="quiet">Up next </span>
          {upNext.map(({ workflow, at }, index) => (
            <span key={`${workflow} ${at}`}>
              {index > 0 && ' · '}
              <Link href={`/workflows/${encodeURIComponent(workflow)}`}>{workflow}</Link> <When at={at} />
            </span>
          ))}
        </p>
      )}
    </section>
  )
}

/** The next tick of each workflow. */
function firstOfEach(ticks: Overview['upNext']): Overview['upNext'] {
  return ticks.filter(({ workflow }, index) => ticks.findIndex((tick) => tick.workflow === workflow) === index)
}

function FirstSteps() {
  return (
    <Empty title="Nothing has run yet.">
      <p>
        Give the service the address of an <Link href="/endpoints">endpoint</Link>, or make an event of your own:
      </p>
      <code>upshot trigger transfer.completed</code>
    </Empty>
  )
}
