import { useState } from 'react'
import { Link } from 'wouter'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useApi } from '../../api/use-api.ts'
import { Act } from '../../parts/act.tsx'
import { ProgressBar } from '../../parts/charts/gauges.tsx'
import { Bones, ProblemNote } from '../../parts/messages.tsx'
import { Card, DetailPage } from '../../parts/page.tsx'
import { formOf } from '../../parts/read-fields.ts'
import { type Fact, hrefOfEvent, hrefOfWorkflow, RunLink, RunTags, Status } from '../../parts/text.tsx'
import { Moment, useNow, When } from '../../parts/when.tsx'
import { useMay } from '../../state/session.ts'
import { countOf, formatDuration, shellWord } from '../../words/format.ts'
import { causeOf, type Run, type Step, tookMs } from '../../words/runs.ts'
import { CompareCard } from './compare-card.tsx'
import { DataCard } from './data-card.tsx'
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
    <DetailPage
      of={run}
      title="Run"
      head={(found) => ({
        title: found.workflow,
        above: [
          ['/runs', 'Runs'],
          [hrefOfWorkflow(found.workflow), found.workflow],
        ],
        beside: <Status of={found} />,
        facts: factsOf(found),
      })}
    >
      {(found) => (
        <>
          <Why run={found} />
          <RunActions run={found} steps={steps.data?.items ?? []} />
          <HooksCard run={id} />
          {steps.error && <ProblemNote error={steps.error} />}
          {steps.data && <Work run={found} steps={steps.data.items} total={steps.data.total} />}
          {/* The steps would push it down. */}
          {steps.isPending ? <Bones /> : <Related id={id} />}
        </>
      )}
    </DetailPage>
  )
}

function Why({ run }: { run: Run }) {
  const { error, reason, dueAt, awaits, resolution } = run
  const why = error ? `${error.name}: ${error.message}` : reason
  return (
    <>
      <ProgressBar run={run} />
      {why && (
        <p className={error ? 'problem' : 'card padded wrap'}>
          {why}
          {dueAt && (
            <span className="quiet">
              {' '}
              · goes on <When at={dueAt} />
              {awaits && ' at the latest'}
            </span>
          )}
          <Decide run={run} />
        </p>
      )}
      {resolution && (
        <p className="card padded wrap">
          <span className="status" data-state="completed" aria-hidden="true">
            ✓
          </span>{' '}
          Resolved by {resolution.by} <When at={resolution.at} />: {resolution.reason}
        </p>
      )}
    </>
  )
}

/** The way to the approval that a run waits for. The reason does not tell that of a question. */
function Decide({ run: { id: run, reason, status, workflow } }: { run: Run }) {
  const [words, named] = /^waits for (?:approval (apr_\w+)|people)/.exec(reason ?? '') ?? []
  const isWaiting = status === 'waiting' && words !== undefined
  const isEnabled = isWaiting && named === undefined
  const related = useApi('GET /runs/:id/related', { params: { id: run } }, { isEnabled })
  if (!isWaiting) return null
  const id = named ?? related.data?.question
  const all = `/approvals?workflow=${encodeURIComponent(workflow)}`
  return (
    <>
      {' · '}
      <Link href={id ? `/approvals/${id}` : all}>Decide</Link>
    </>
  )
}

function factsOf(run: Run): Fact[] {
  const { id, subject, tags, account, tickAt, createdAt, attempt, deadline } = run
  return [
    ['Run', <code key="id">{id}</code>],
    ['Caused by', <Cause key="cause" run={run} />],
    subject !== null && ['Subject', subject],
    Object.keys(tags).length > 0 && ['Tags', <RunTags key="tags" tags={tags} isLinked />],
    account !== 'default' && ['Account', account],
    tickAt !== null && ['Due', <Moment key="tick" at={tickAt} />],
    ['Created', <When key="created" at={createdAt} />],
    ['Took', <Took key="took" run={run} />],
    attempt > 0 && ['Failed passes', attempt],
    deadline !== null && ['Times out', <When key="deadline" at={deadline} />],
  ]
}

function Cause({ run }: { run: Run }) {
  const words = causeOf(run)
  return run.eventId === null ? (
    words
  ) : (
    <Link href={hrefOfEvent({ id: run.eventId, account: run.account })}>{words}</Link>
  )
}

function Took({ run }: { run: Run }) {
  const took = tookMs(run, useNow())
  return took === null ? '–' : formatDuration(took)
}

function Work({ run, steps, total }: { run: Run; steps: readonly Step[]; total: number }) {
  const failed = steps.find(({ status }) => status === 'failed')
  const [chosen, setChosen] = useState<string | null>(null)
  const step = steps.find(({ key }) => key === chosen) ?? failed ?? steps.at(-1) ?? null
  return (
    <>
      <div className="split">
        <Timeline run={run} steps={steps} total={total} chosen={step?.key ?? null} choose={setChosen} />
        <StepPanel run={run} step={step} />
      </div>
      {step && <DataCard key={step.key} run={run} step={step} steps={steps} />}
      {run.originRun !== null && <CompareCard run={run} origin={run.originRun} />}
    </>
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
                <Status of={run} />
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

type Hook = AnswerOf<'GET /hooks'>['items'][number]

/** The callback URLs that a run has opened. An operator may answer in place of the sender. */
function HooksCard({ run }: { run: string }) {
  const hooks = useApi('GET /hooks', { query: { run } })
  const mayAct = useMay('operator')
  const items = hooks.data?.items ?? []
  if (items.length === 0) return null
  return (
    <Card title="Callbacks">
      <ul>
        {items.map((hook) => (
          <li className="row" key={hook.id}>
            <strong>{hook.step}</strong>
            <span className="quiet wrap">{hook.ask ?? hook.address}</span>
            <span className="quiet">
              · {hook.isMany ? `${hook.state}, ${countOf(hook.answers, 'answer')}` : hook.state}
              {hook.state === 'open' && (
                <>
                  {' '}
                  until <When at={hook.expiresAt} />
                </>
              )}
            </span>
            {mayAct && hook.state === 'open' && (
              <span className="push">
                <Answer run={run} hook={hook} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </Card>
  )
}

function Answer({ run, hook: { id, step, ask, data } }: { run: string; hook: Hook }) {
  const form = formOf(data ?? {})
  return (
    <Act
      label="Answer…"
      title={ask ?? `Answer "${step}" in place of its sender?`}
      action="Answer"
      fields={form.fields}
      to="POST /hooks/:id/answer"
      given={(values) => ({ params: { id }, body: { data: form.valueOf(values) } })}
      cli={`upshot runs answer ${run} ${shellWord(step)} --data null`}
    />
  )
}
