import { useState } from 'react'
import { Link } from 'wouter'
import { useApi } from '../../api/use-api.ts'
import { Facts, Status } from '../../parts/text.tsx'
import { Moment, When } from '../../parts/when.tsx'
import { useMay } from '../../state/session.ts'
import { formatBytes } from '../../words/format.ts'
import type { Run, Step } from '../../words/runs.ts'
import { OutputView } from './data-card.tsx'

/** The chosen step: its error with the author's lines, and its attempts; the output of its run. */
export function StepPanel({ run, step }: { run: Run; step: Step | null }) {
  const tabs = tabsOf(run, step)
  const [wanted, setTab] = useState<string | null>(null)
  const tab = tabs.find((each) => each === wanted) ?? tabs[0]
  return (
    <section className="card panel" aria-label="Step">
      <div className="row">
        <h2 className="wrap">{step?.key ?? run.workflow}</h2>
        {step && <Status of={step} />}
      </div>
      <div className="tabs">
        {tabs.map((each) => (
          <button key={each} type="button" aria-pressed={each === tab} onClick={() => setTab(each)}>
            {each}
          </button>
        ))}
      </div>
      {tab === 'Error' && <ErrorTab run={run} step={step} />}
      {tab === 'Output of the run' && <RunOutput id={run.id} />}
      {tab === 'Plan' && <RunOutput id={run.id} isPlan />}
      {tab === 'About' && step && <About step={step} />}
    </section>
  )
}

function tabsOf(run: Run, step: Step | null): string[] {
  const hasError = step ? step.error !== null || step.failures.length > 0 : run.error !== null
  return [
    ...(hasError ? ['Error'] : []),
    ...(run.outputBytes === null ? [] : [run.status === 'planned' ? 'Plan' : 'Output of the run']),
    ...(step ? ['About'] : []),
  ]
}

function ErrorTab({ run, step }: { run: Run; step: Step | null }) {
  const failure = step === null ? run.error : (step.error ?? step.failures.at(-1)?.error)
  const attempts = step?.failures ?? []
  return (
    <div className="stack">
      {failure && (
        <div className="problem">
          <strong>{failure.name}</strong>
          <p>{failure.message}</p>
          <Stack run={run.id} step={step?.key} error={failure} />
        </div>
      )}
      <ol className="attempts">
        {attempts.map(({ attempt, at, error }, index) => (
          <li key={attempt}>
            <span className="quiet">
              Attempt {attempt} · <When at={at} />
              {index > 0 && error.message === attempts[index - 1]?.error.message && ' · the same error'}
            </span>
            <p className="wrap">{error.message}</p>
          </li>
        ))}
      </ol>
      {step?.status === 'completed' && attempts.length > 0 && (
        <p className="quiet">Attempt {step.attempt} gave the result below. Each saw the same event and results.</p>
      )}
    </div>
  )
}

/** The output of a run; that of one that was only planned is what it would do. */
function RunOutput({ id, isPlan = false }: { id: string; isPlan?: boolean }) {
  const output = useApi('GET /runs/:id/output', { params: { id } })
  const value = output.data?.isWhole ? output.data.value : null
  return (
    <div className="stack">
      {isPlan && <p>Planned only: nothing of this was done.</p>}
      {isPlan && hasEffects(value) && <Effects plan={value} />}
      <OutputView of={output} />
    </div>
  )
}

/** The part of a plan that the page shows; a viewer gets it masked. */
interface Plan {
  effects: { class: string; step: string; target: string | null; asked: { path?: string; bytes?: number } | null }[]
}

function hasEffects(value: unknown): value is Plan {
  return typeof value === 'object' && value !== null && Array.isArray((value as Partial<Plan>).effects)
}

function Effects({ plan: { effects } }: { plan: Plan }) {
  if (effects.length === 0) return <p className="quiet">It would do nothing outside.</p>
  return (
    <ol className="attempts" aria-label="What it would do">
      {effects.map(({ class: kind, step, target, asked }) => (
        <li key={step}>
          <strong>would {kind}</strong> <span className="wrap">{asked?.path ?? target ?? step}</span>
          {typeof asked?.bytes === 'number' && <span className="quiet"> {formatBytes(asked.bytes)}</span>}
        </li>
      ))}
    </ol>
  )
}

function Target({ of }: { of: string }) {
  return of.startsWith('run_') ? <Link href={`/runs/${of}`}>{of}</Link> : <span>{of}</span>
}

function About({ step: { kind, effect, attempt, startedAt, finishedAt, dueAt, target, outputBytes } }: { step: Step }) {
  return (
    <Facts
      facts={[
        ['Kind', kind],
        ['Effect', effect],
        ['Attempt', attempt],
        ['Started', <Moment key="started" at={startedAt} />],
        finishedAt !== null && ['Finished', <Moment key="finished" at={finishedAt} />],
        dueAt !== null && ['Due', <When key="due" at={dueAt} />],
        target !== null && ['Target', <Target key="target" of={target} />],
        outputBytes !== null && ['Output', formatBytes(outputBytes)],
      ]}
    />
  )
}

/** The stack of an error, each frame with the code around it where its module is at hand. */
function Stack({ run, step, error }: { run: string; step: string | undefined; error: NonNullable<Run['error']> }) {
  const isEnabled = useMay('operator') && error.at !== undefined
  const input = { params: { id: run }, query: step === undefined ? {} : { step } }
  const source = useApi('GET /runs/:id/source', input, { isEnabled, isStill: true })
  const found = source.data?.items ?? []
  return (
    <ol className="frames mono">
      {error.at?.map((frame) => {
        const place = found.find((each) => each.frame === frame)
        return (
          <li key={frame} className={frame.includes('node_modules') ? 'quiet' : ''}>
            {frame}
            {place && <Code place={place} isOpen={place === found[0]} />}
          </li>
        )
      })}
    </ol>
  )
}

interface Place {
  file: string
  line: number
  from: number
  lines: readonly string[]
  isChanged: boolean
}

function Code({ place: { file, line, from, lines, isChanged }, isOpen }: { place: Place; isOpen: boolean }) {
  const numbered = lines.map((text, index) => ({ number: from + index, text }))
  return (
    <details open={isOpen}>
      <summary>
        {file}, line {line}
        {isChanged && <span className="quiet"> · changed since</span>}
      </summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <pre className="source" tabIndex={0}>
        {numbered.map(({ number, text }) => (
          <span key={number} className={number === line ? 'here' : undefined}>
            <span className="quiet">{String(number).padStart(4)} </span>
            {text}
            {'\n'}
          </span>
        ))}
      </pre>
    </details>
  )
}
