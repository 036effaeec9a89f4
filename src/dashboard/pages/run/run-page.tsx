import { useState } from 'react'
import { Link } from 'wouter'
import { useApi } from '../../api/use-api.ts'
import { ProgressBar } from '../../parts/charts/progress-bar.tsx'
import { LoadedPage, ProblemNote } from '../../parts/messages.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Status } from '../../parts/status.tsx'
import { Facts, Path, RunLink, RunTags } from '../../parts/text.tsx'
import { Moment, useNow, When } from '../../parts/when.tsx'
import { formatDuration } from '../../words/format.ts'
import { causeOf, type Run, type Step, tookMs } from '../../words/runs.ts'
import { HooksCard } from './hooks-card.tsx'
import { RunActions } from './run-actions.tsx'
import { StepPanel } from './step-panel.tsx'
import { Timeline } from './timeline.tsx'

/** Steps that the page asks for at once. */
const STEPS = 5_000

/** One run: why it is where it is, its steps in time, and what can be done. */
export default function RunPage({ id }: { id: string }) {
  const run = useApi('GET /runs/:id', { params: { id } })
  const steps = useApi('GET /runs/:id/steps', { params: { id }, query: { limit: STEPS } })
  return (
    <LoadedPage of={run} title="Run">
      {(found) => (
        <div className="stack">
          <Top run={found} />
          <RunFacts run={found} />
          <RunActions run={found} steps={steps.data?.items ?? []} />
          <HooksCard run={id} />
          {steps.error && <ProblemNote error={steps.error} />}
          {steps.data && <Work run={found} steps={steps.data.items} total={steps.data.total} />}
          <Related id={id} />
        </div>
      )}
    </LoadedPage>
  )
}

function Top({ run }: { run: Run }) {
  const why = run.error ? `${run.error.name}: ${run.error.message}` : run.reason
  return (
    <div>
      <p className="crumbs">
        <Link href="/runs">Runs</Link> /{' '}
        <Link href={`/workflows/${encodeURIComponent(run.workflow)}`}>{run.workflow}</Link>
      </p>
      <PageHead title={run.workflow} beside={<Status status={run.status} needsPerson={run.needsPerson} />} />
      <div className="stack">
        <ProgressBar run={run} />
        {why && (
          <p className={run.error ? 'problem' : 'card padded wrap'}>
            {why}
            {run.dueAt && (
              <span className="quiet">
                {' '}
                · goes on <When at={run.dueAt} />
              </span>
            )}
          </p>
        )}
        {run.resolution && (
          <p className="card padded wrap">
            <span className="status" data-state="completed" aria-hidden="true">
              ✓
            </span>{' '}
            Resolved by {run.resolution.by} <When at={run.resolution.at} />: {run.resolution.reason}
          </p>
        )}
      </div>
    </div>
  )
}

function RunFacts({ run }: { run: Run }) {
  const now = useNow()
  const took = tookMs(run, now)
  const cause =
    run.eventId === null ? (
      causeOf(run)
    ) : (
      <Link href={`/events/${encodeURIComponent(run.eventId)}`}>{causeOf(run)}</Link>
    )
  return (
    <Facts
      facts={[
        ['Run', <code key="id">{run.id}</code>],
        ['Caused by', cause],
        run.subject === null ? null : ['Subject', <Path key="subject" text={run.subject} />],
        Object.keys(run.tags).length === 0 ? null : ['Tags', <RunTags key="tags" tags={run.tags} isLinked />],
        run.account === 'default' ? null : ['Account', run.account],
        run.tickAt === null ? null : ['Due', <Moment key="tick" at={run.tickAt} />],
        ['Made', <When key="made" at={run.createdAt} />],
        ['Took', took === null ? '–' : formatDuration(took)],
        run.attempt === 0 ? null : ['Failed passes', run.attempt],
        run.deadline === null ? null : ['Times out', <When key="deadline" at={run.deadline} />],
      ]}
    />
  )
}

function Work({ run, steps, total }: { run: Run; steps: readonly Step[]; total: number }) {
  const failed = steps.find(({ status }) => status === 'failed')
  const [chosen, setChosen] = useState<string | null>(null)
  const step = steps.find(({ key }) => key === chosen) ?? failed ?? steps.at(-1) ?? null
  return (
    <div className="split">
      <Timeline run={run} steps={steps} total={total} chosen={step?.key ?? null} choose={setChosen} />
      <StepPanel run={run} step={step} />
    </div>
  )
}

function Related({ id }: { id: string }) {
  const related = useApi('GET /runs/:id/related', { params: { id } })
  if (!related.data) return null
  const { parent, origin, absorber, invoked, derived, chain, ofEvent } = related.data
  const outsideChain = (runs: Run[]) => runs.filter((run) => chain.every((link) => link.id !== run.id))
  const groups: [string, Run[]][] = [
    ['Invoked by', parent ? [parent] : []],
    ['Its chain of runs', chain],
    ['Made from', origin ? outsideChain([origin]) : []],
    ['Folded into', absorber ? [absorber] : []],
    ['Invoked', invoked],
    ['Repeats and follow-ups', outsideChain(derived)],
    ['Other runs of the event', ofEvent],
  ]
  const shown = groups.filter(([, runs]) => runs.length > 0)
  if (shown.length === 0) return null
  return (
    <section className="columns" aria-label="Related runs">
      {shown.map(([title, runs]) => (
        <div className="card padded stack" key={title}>
          <h2>{title}</h2>
          <ul>
            {runs.map((run) => (
              <li className="row" key={run.id}>
                <Status status={run.status} needsPerson={run.needsPerson} />
                <RunLink run={run} />
                {run.id === id && <span className="quiet">this one</span>}
              </li>
            ))}
          </ul>
        </div>
      ))}
    </section>
  )
}
