import { useState } from 'react'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useApi } from '../../api/use-api.ts'
import { Blocks } from '../../parts/blocks.tsx'
import { describeUsual } from '../../parts/charts/gauges.tsx'
import { useNow } from '../../parts/when.tsx'
import { formatDuration } from '../../words/format.ts'
import type { Run, Step } from '../../words/runs.ts'
import { lookOf } from '../../words/states.ts'
import { type Bar, barsOf, placeOf, type Span, spanOf } from './bars.ts'

const FILTERS = ['All', 'Failed', 'Open', 'Effects'] as const
type Filter = (typeof FILTERS)[number]

/** Height of a lane in pixels, as `run.css` has it. */
const LANE_HEIGHT = 30

const FITS: Record<Filter, (step: Step) => boolean> = {
  All: () => true,
  Failed: ({ status, failures }) => status === 'failed' || failures.length > 0,
  Open: ({ status }) => status === 'waiting' || status === 'started',
  Effects: ({ effect }) => effect !== 'read',
}

type UsualTimes = AnswerOf<'GET /runs/:id/usual'>

interface TimelineParts {
  run: Run
  steps: readonly Step[]
  total: number
  chosen: string | null
  choose: (key: string) => void
}

/** The steps of a run as lanes on one line of time; each lane is a button that shows its step. */
export function Timeline({ run, steps, total, chosen, choose }: TimelineParts) {
  const [filter, setFilter] = useState<Filter>('All')
  const now = useNow()
  const span = spanOf(run, steps, now)
  const usual = useApi('GET /runs/:id/usual', { params: { id: run.id } }).data
  const byName = new Map(usual?.steps.map((step) => [step.name, step]))
  const shown = steps.filter(FITS[filter])
  return (
    <section className="stack" aria-label="Timeline">
      <div className="row">
        <h2>Timeline</h2>
        <div className="tabs push">
          {FILTERS.map((each) => (
            <button key={each} type="button" aria-pressed={each === filter} onClick={() => setFilter(each)}>
              {each}
            </button>
          ))}
        </div>
      </div>
      <div className="card waterfall">
        <Hatch />
        <Axis span={span} />
        <WholeRun run={run} span={span} usual={usual?.run ?? null} />
        <Blocks rows={shown} as="ol" rowHeight={LANE_HEIGHT}>
          {(step) => (
            <li key={step.key}>
              <Lane
                step={step}
                span={span}
                usual={byName.get(nameOf(step.key)) ?? null}
                isChosen={step.key === chosen}
                choose={choose}
              />
            </li>
          )}
        </Blocks>
        {shown.length === 0 && <p className="quiet">{steps.length === 0 ? 'No step yet.' : 'No step of this kind.'}</p>}
        {total > steps.length && (
          <p className="quiet">
            The first {steps.length} of {total} steps.
          </p>
        )}
      </div>
    </section>
  )
}

/** A pattern says "waiting" without colour, too. */
function Hatch() {
  return (
    <svg className="unseen" width="0" height="0" aria-hidden="true">
      <defs>
        <pattern id="hatch" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="8" height="8" />
          <path d="M0 0v8" />
        </pattern>
      </defs>
    </svg>
  )
}

function Axis({ span }: { span: Span }) {
  return (
    <div className="lane" aria-hidden="true">
      <span className="name" />
      <AxisTrack span={span} />
    </div>
  )
}

function AxisTrack({ span }: { span: Span }) {
  return (
    <svg className="track" height="16" aria-hidden="true">
      <text x="0" y="12" className="tick">
        created
      </text>
      <text x="100%" y="12" textAnchor="end" className="tick">
        {formatDuration(span.to - span.from)}
      </text>
    </svg>
  )
}

function WholeRun({ run, span, usual }: { run: Run; span: Span; usual: UsualTimes['run'] }) {
  const { state } = lookOf(run.status, run.needsPerson)
  const made = Date.parse(run.createdAt)
  const started = run.startedAt === null ? span.to : Date.parse(run.startedAt)
  const end = run.finishedAt === null ? span.to : Date.parse(run.finishedAt)
  const bars: Bar[] = [{ from: made, to: started, look: 'idle' }]
  if (run.startedAt !== null) bars.push({ from: started, to: end, look: state === 'person' ? 'waiting' : state })
  return (
    <div className="lane" title={usual === null ? undefined : describeUsual(usual)}>
      <span className="name quiet">queue → end</span>
      <Track bars={bars} span={span} usual={run.startedAt === null ? null : usualBar(started, usual)} />
      <span className="length">{run.startedAt === null ? '–' : formatDuration(end - started)}</span>
    </div>
  )
}

function Lane({
  step,
  span,
  usual,
  isChosen,
  choose,
}: {
  step: Step
  span: Span
  usual: UsualTimes['run']
  isChosen: boolean
  choose: (key: string) => void
}) {
  const end = step.finishedAt === null ? span.to : Date.parse(step.finishedAt)
  const length = formatDuration(end - Date.parse(step.startedAt))
  return (
    <button
      type="button"
      className="lane"
      title={usual === null ? undefined : describeUsual(usual)}
      aria-pressed={isChosen}
      onClick={() => choose(step.key)}
    >
      <span className="name">
        <GlyphOf step={step} />
        <span className="key">{step.key}</span>
        {step.effect !== 'read' && <span className={`tag ${step.effect}`}>{step.effect}</span>}
      </span>
      <Track bars={barsOf(step, span)} span={span} usual={usualBar(Date.parse(step.startedAt), usual)} />
      <span className="length">{length}</span>
    </button>
  )
}

function GlyphOf({ step }: { step: Step }) {
  const { state, glyph, word } = lookOf(step.status)
  return (
    <span className="status" data-state={state}>
      <span aria-hidden="true">{glyph}</span>
      <span className="unseen">{word}</span>
    </span>
  )
}

/** The name of a step, without its key. */
const nameOf = (key: string) => key.replace(/[[#].*$/s, '')

function usualBar(from: number, usual: UsualTimes['run']): Span | null {
  return usual === null ? null : { from, to: from + usual.p50Ms }
}

/** `usual`: drawn as a thin line below, as long as it usually takes. */
function Track({ bars, span, usual }: { bars: readonly Bar[]; span: Span; usual: Span | null }) {
  return (
    <svg className="track" height="16" aria-hidden="true">
      <line x1="0" x2="100%" y1="8" y2="8" />
      {bars.map(({ from, to, look }) => (
        <rect
          key={`${from} ${look}`}
          data-state={look}
          x={`${placeOf(from, span)}%`}
          width={`${Math.max(placeOf(to, span) - placeOf(from, span), 0.6)}%`}
          y="2"
          height="12"
          rx="2"
        />
      ))}
      {usual && (
        <rect
          className="usually"
          x={`${placeOf(usual.from, span)}%`}
          width={`${Math.max(placeOf(usual.to, span) - placeOf(usual.from, span), 0.3)}%`}
          y="15"
          height="1.5"
        />
      )}
    </svg>
  )
}
