import { useState } from 'react'
import { Link } from 'wouter'
import { useApi } from '../../api/use-api.ts'
import { JsonTree } from '../../parts/json-tree.tsx'
import { Loaded } from '../../parts/messages.tsx'
import { Status } from '../../parts/status.tsx'
import { Facts } from '../../parts/text.tsx'
import { Moment, When } from '../../parts/when.tsx'
import { formatBytes } from '../../words/format.ts'
import type { Run, Step } from '../../words/runs.ts'
import { PlanTab } from './plan-tab.tsx'

/** The chosen step: its error with the author's lines, its output, its attempts. */
export function StepPanel({ run, step }: { run: Run; step: Step | null }) {
  const tabs = tabsOf(run, step)
  const [wanted, setTab] = useState<string | null>(null)
  const tab = tabs.find((each) => each === wanted) ?? tabs[0]
  return (
    <section className="card panel" aria-label="Step">
      <div className="row">
        <h2 className="wrap">{step?.key ?? run.workflow}</h2>
        {step && <Status status={step.status} />}
      </div>
      <div className="tabs">
        {tabs.map((each) => (
          <button key={each} type="button" aria-pressed={each === tab} onClick={() => setTab(each)}>
            {each}
          </button>
        ))}
      </div>
      {tab === 'Error' && <ErrorTab failure={step?.error ?? run.error} step={step} />}
      {tab === 'Output' && step && <StepOutput run={run.id} step={step.key} />}
      {tab === 'Output of the run' && <RunOutput id={run.id} />}
      {tab === 'Plan' && <PlanTab id={run.id} />}
      {tab === 'About' && step && <About step={step} />}
    </section>
  )
}

function tabsOf(run: Run, step: Step | null): string[] {
  const hasError = step ? step.error !== null || step.failures.length > 0 : run.error !== null
  return [
    ...(hasError ? ['Error'] : []),
    ...(step && step.outputBytes !== null ? ['Output'] : []),
    ...(run.outputBytes === null ? [] : [run.status === 'planned' ? 'Plan' : 'Output of the run']),
    ...(step ? ['About'] : []),
  ]
}

function ErrorTab({ failure, step }: { failure: Run['error']; step: Step | null }) {
  return (
    <div className="stack">
      {failure && (
        <div className="problem">
          <strong>{failure.name}</strong>
          <p>{failure.message}</p>
          {failure.at && (
            <ol className="frames mono">
              {failure.at.map((frame) => (
                <li key={frame} className={frame.includes('node_modules') ? 'quiet' : ''}>
                  {frame}
                </li>
              ))}
            </ol>
          )}
        </div>
      )}
      <ol className="attempts">
        {step?.failures.map(({ attempt, at, error }) => (
          <li key={attempt}>
            <span className="quiet">
              Attempt {attempt} · <When at={at} />
            </span>
            <p className="wrap">{error.message}</p>
          </li>
        ))}
      </ol>
    </div>
  )
}

function StepOutput({ run, step }: { run: string; step: string }) {
  const output = useApi('GET /runs/:id/steps/:key/output', { params: { id: run, key: step } })
  return <OutputView of={output} />
}

function RunOutput({ id }: { id: string }) {
  return <OutputView of={useApi('GET /runs/:id/output', { params: { id } })} />
}

function OutputView({ of }: { of: ReturnType<typeof useApi<'GET /runs/:id/output'>> }) {
  return (
    <Loaded of={of}>
      {({ isWhole, value, text, bytes }) =>
        isWhole ? (
          <JsonTree value={value} />
        ) : (
          <>
            <p className="quiet">The first part of {formatBytes(bytes)}.</p>
            <pre>{text}</pre>
          </>
        )
      }
    </Loaded>
  )
}

function About({ step }: { step: Step }) {
  const target = step.target?.startsWith('run_') ? (
    <Link href={`/runs/${step.target}`}>{step.target}</Link>
  ) : (
    step.target
  )
  return (
    <Facts
      facts={[
        ['Kind', step.kind],
        ['Effect', step.effect],
        ['Attempt', step.attempt],
        ['Began', <Moment key="began" at={step.startedAt} />],
        step.finishedAt === null ? null : ['Ended', <Moment key="ended" at={step.finishedAt} />],
        step.dueAt === null ? null : ['Due', <When key="due" at={step.dueAt} />],
        step.target === null ? null : ['Target', target],
        step.outputBytes === null ? null : ['Output', formatBytes(step.outputBytes)],
      ]}
    />
  )
}
