import type { Run, Step } from '../../words/runs.ts'
import { lookOf, type State } from '../../words/states.ts'

/** A stretch of time, in epoch milliseconds. */
export interface Span {
  from: number
  to: number
}

export interface Bar extends Span {
  look: State
}

/** Kinds of steps that wait rather than work. */
const WAITING_KINDS = new Set(['sleep', 'wait', 'receive', 'invoke', 'approve'])
/** Least length of a run's line of time, so that no bar is wider than its moment deserves. */
const MIN_MS = 1

/** From the making of a run to its end, or to now while it works. */
export function spanOf(run: Run, steps: readonly Step[], now: number): Span {
  const from = Date.parse(run.createdAt)
  const ends = steps.map(({ startedAt, finishedAt }) => Date.parse(finishedAt ?? startedAt))
  const end = run.finishedAt === null ? now : Date.parse(run.finishedAt)
  return { from, to: Math.max(end, from + MIN_MS, ...ends) }
}

/** The place of a moment in a span, in percent. */
export function placeOf(moment: number, { from, to }: Span): number {
  return Math.min(Math.max(((moment - from) / (to - from)) * 100, 0), 100)
}

/** The bars of a step: its work or its wait, and a mark for each failed attempt. */
export function barsOf(step: Step, span: Span): Bar[] {
  const from = Date.parse(step.startedAt)
  const to = step.finishedAt === null ? span.to : Date.parse(step.finishedAt)
  const isWait = WAITING_KINDS.has(step.kind) || step.status === 'waiting'
  const look = isWait && step.status !== 'failed' ? 'waiting' : lookOf(step.status).state
  const marks = step.failures.map(({ at }): Bar => ({ from: Date.parse(at), to: Date.parse(at), look: 'failed' }))
  return [{ from, to, look: look === 'person' ? 'waiting' : look }, ...marks]
}
