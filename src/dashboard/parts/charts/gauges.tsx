import type { ReactNode } from 'react'
import { formatCount, formatDuration } from '../../words/format.ts'
import { describeProgress, isFinished, type Run } from '../../words/runs.ts'
import type { State } from '../../words/states.ts'

/** A part of a whole in percent, with its colour. */
interface Part {
  state: State
  from: number
  to: number
}

function Gauge({ parts, isSmall, children, ...more }: { parts: Part[]; isSmall: boolean; children: ReactNode }) {
  return (
    <span className={isSmall ? 'gauge small' : 'gauge'}>
      <svg aria-hidden="true" viewBox="0 0 100 8" preserveAspectRatio="none" {...more}>
        <rect className="rail" width="100" height="8" />
        {parts.map(({ state, from, to }) => (
          <rect key={state} data-state={state} x={from} width={to - from} height="8" />
        ))}
      </svg>
      {children}
    </span>
  )
}

/** A part of a limit as a bar with its numbers. Above 80 % it has the colour of waiting. */
export function Meter({ label, value, most }: { label: string; value: number; most: number }) {
  const share = most === 0 ? 1 : Math.min(value / most, 1)
  const state = share >= 1 ? 'failed' : share >= 0.8 ? 'waiting' : 'completed'
  return (
    <Gauge parts={[{ state, from: 0, to: share * 100 }]} isSmall>
      <span>
        <span className="unseen">{label}: </span>
        {formatCount(value)} <span className="quiet">of {formatCount(most)}</span>
      </span>
    </Gauge>
  )
}

/** How far a run has come, as a bar with words; nothing for a run that says nothing. */
export function ProgressBar({ run, isSmall = false }: { run: Pick<Run, 'status' | 'progress'>; isSmall?: boolean }) {
  const { progress } = run
  if (progress === null || (isSmall && isFinished(run))) return null
  const done = progress.share * 100
  const percent = Math.floor(done)
  const failed = progress.total === 0 ? 0 : Math.min(100, (progress.failed / progress.total) * 100)
  const words = describeProgress(progress, run.status === 'running')
  const parts: Part[] = [
    { state: 'running', from: 0, to: done },
    { state: 'failed', from: Math.max(done - failed, 0), to: done },
  ]
  const bar = { role: 'progressbar', 'aria-hidden': undefined, 'aria-label': 'Progress', 'aria-valuetext': words }
  return (
    <Gauge parts={parts} isSmall={isSmall} {...bar} aria-valuemin={0} aria-valuemax={100} aria-valuenow={percent}>
      <span className="quiet">{isSmall ? `${percent} %` : `${percent} % · ${words}`}</span>
    </Gauge>
  )
}

interface Usual {
  p50Ms: number
  p95Ms: number
}

export function describeUsual({ p50Ms, p95Ms }: Usual): string {
  return `usually ${formatDuration(p50Ms)}, 95 % within ${formatDuration(p95Ms)}`
}

/** A duration as a mark on a line, over the band from the usual time to the 95th percentile. */
export function UsualBar({ ms, usual }: { ms: number; usual: Usual }) {
  const most = Math.max(ms, usual.p95Ms, 1)
  const place = (value: number) => (value / most) * 100
  const state = ms > usual.p95Ms ? 'waiting' : 'completed'
  return (
    <svg className="usual" role="img" aria-label={describeUsual(usual)} viewBox="0 0 100 6" preserveAspectRatio="none">
      <title>{describeUsual(usual)}</title>
      <rect className="rail" y="2" width="100" height="2" />
      <rect data-state="idle" x={place(usual.p50Ms)} y="1" width={place(usual.p95Ms - usual.p50Ms)} height="4" />
      <rect data-state={state} y="2" width={Math.max(place(ms), 2)} height="2" />
    </svg>
  )
}

const BAR = 4
const HEIGHT = 20

/** Counts as small bars, oldest first. `label`: what a screen reader hears. */
export function Sparkline({ counts, label }: { counts: readonly number[]; label: string }) {
  const most = Math.max(1, ...counts)
  const bars = counts.map((count, part) => {
    const height = count === 0 ? 1 : Math.max(3, (count / most) * HEIGHT)
    return { x: part * BAR, y: HEIGHT - height, width: BAR - 1, height }
  })
  return (
    <svg className="spark" role="img" aria-label={label} viewBox={`0 0 ${counts.length * BAR} ${HEIGHT}`}>
      <title>{label}</title>
      {bars.map((bar) => (
        <rect key={bar.x} {...bar} className="rail" data-state={bar.height === 1 ? undefined : 'failed'} />
      ))}
    </svg>
  )
}
