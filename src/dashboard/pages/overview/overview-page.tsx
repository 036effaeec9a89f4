import { Link } from 'wouter'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { appNow } from '../../api/app-clock.ts'
import { useApi } from '../../api/use-api.ts'
import { HourBars } from '../../parts/charts/hour-bars.tsx'
import { Empty, Loaded } from '../../parts/messages.tsx'
import { Card, PageHead } from '../../parts/page.tsx'
import { RunTable } from '../../parts/run-table.tsx'
import { hrefOfWorkflow, WorkflowLink } from '../../parts/text.tsx'
import { When } from '../../parts/when.tsx'
import { countOf, formatCount } from '../../words/format.ts'
import { foldHours } from '../../words/hours.ts'
import type { State } from '../../words/states.ts'

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
      <Card title="Newest runs" isPlain>
        <Loaded of={newest}>{({ items }) => (items.length === 0 ? <FirstSteps /> : <RunTable runs={items} />)}</Loaded>
      </Card>
    </div>
  )
}

/** A matter for a person: where it leads, its look, and its words. */
type Need = readonly [href: string, glyph: string, state: State, text: string]

function NeedsYou({ overview }: { overview: Overview }) {
  const endpoints = useApi('GET /endpoints', {})
  const learning = endpoints.data?.items.filter(({ status }) => status === 'learning') ?? []
  const needs: readonly Need[] = [
    ...needsOf(overview),
    ...overview.pausedWorkflows.map((id): Need => [hrefOfWorkflow(id), '‖', 'waiting', `${id} is paused`]),
    ...overview.missedTicks.map(({ workflow, missed }): Need => {
      return ['/schedules', '!', 'waiting', `${workflow} missed ${countOf(missed, 'tick')}`]
    }),
    ...learning.map(({ name }): Need => {
      const text = `Endpoint ${name} is learning its signature scheme`
      return [`/endpoints/${encodeURIComponent(name)}`, '◔', 'waiting', text]
    }),
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
      {needs.map(([href, glyph, state, text]) => (
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

function needsOf({ failed, forPerson, approvals, stops, alerts }: Overview): Need[] {
  const effects = approvals.effects === 0 ? '' : `: ${countOf(approvals.effects, 'effect')}`
  const all: [number, Need][] = [
    [failed.count, ['/failures', '✗', 'failed', `${countAll(failed, 'run')} failed in the last 24 hours`]],
    [forPerson.count, ['/runs?status=person', '☞', 'person', `${countAll(forPerson, 'run')} waiting for a person`]],
    [approvals.open, ['/approvals', '⚖', 'person', `${countOf(approvals.open, 'approval')}${effects}`]],
    [stops, ['/approvals', '⏻', 'failed', `Effects are stopped: ${countOf(stops, 'stop')} in force`]],
    [alerts.open, ['/system?tab=alerts', '!', 'failed', `${countOf(alerts.open, 'open alert')}: ${alerts.newest}`]],
  ]
  return all.filter(([count]) => count > 0).map(([, need]) => need)
}

function countAll({ count, isMore }: Overview['failed'], noun: string): string {
  return isMore ? `${formatCount(count)}+ ${noun}s` : countOf(count, noun)
}

/** One line that adds up: requests that came, by what became of them; then runs by hour. */
function LastDay({ overview }: { overview: Overview }) {
  const { received, running, pending, oldestPendingAt, upNext } = overview
  const { accepted, duplicate, conflict, refused } = received
  const all = accepted + duplicate + conflict + refused
  const firsts = upNext.filter(
    ({ workflow }, index) => upNext.findIndex((tick) => tick.workflow === workflow) === index,
  )
  return (
    <Card title="Last 24 hours">
      <HourBars hours={foldHours(overview.hours, appNow())} />
      <p className="small">
        <Link href="/deliveries">{formatCount(all)} received</Link>
        <span className="quiet">
          {` = ${formatCount(accepted)} accepted + ${formatCount(duplicate)} duplicate + ${formatCount(conflict)} conflict`}
          {` + ${formatCount(refused)} refused · now ${countAll(running, 'run')} at work, `}
          {`${formatCount(pending.count)} pending`}
        </span>
        {oldestPendingAt !== null && (
          <span className="quiet">
            , oldest <When at={oldestPendingAt} />
          </span>
        )}
      </p>
      {firsts.length > 0 && (
        <p className="small">
          <span className="quiet">Up next </span>
          {firsts.map(({ workflow, at }, index) => (
            <span key={workflow}>
              {index > 0 && ' · '}
              <WorkflowLink id={workflow} /> <When at={at} />
            </span>
          ))}
        </p>
      )}
    </Card>
  )
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
