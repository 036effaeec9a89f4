import type { AnswerOf } from '../../admin/contract/routes.ts'
import { formatCount, formatDuration } from './format.ts'

export type Run = AnswerOf<'GET /runs/:id'>
export type Step = AnswerOf<'GET /runs/:id/steps'>['items'][number]

/** How long a run or step worked, in milliseconds; null before it began. */
export function tookMs(
  { startedAt, finishedAt }: { startedAt: string | null; finishedAt: string | null },
  now: number,
) {
  if (startedAt === null) return null
  return (finishedAt === null ? now : Date.parse(finishedAt)) - Date.parse(startedAt)
}

/** The message of an error without our words around it: a table has the step, but little room. */
export function shortMessage(message: string): string {
  return message.replace(/^step "[^"]*" failed after \S+ attempts?: /, '')
}

/** One line that says why a run is where it is: its error, or the reason of its wait. */
export function whyOf({ error, reason }: Pick<Run, 'error' | 'reason'>): string {
  return error?.message ?? reason ?? ''
}

/**
 * Progress in words, such as `3,412 of 10,000 files compared, 4 failed, 12/s, 9 m left`. Without
 * rate and time left where the run is not at work.
 */
export function describeProgress(progress: NonNullable<Run['progress']>, isAtWork: boolean): string {
  const { done, total, failed, note, rate, leftMs } = progress
  const parts = [
    `${formatCount(done)} of ${formatCount(total)}${note === null ? '' : ` ${note}`}`,
    failed === 0 ? null : `${formatCount(failed)} failed`,
    rate === null || !isAtWork ? null : describeRate(rate),
    leftMs === null || !isAtWork ? null : `${formatDuration(roundTime(leftMs))} left`,
  ]
  return parts.filter((part) => part !== null).join(', ')
}

function describeRate(perSecond: number): string {
  const [rate, unit] = perSecond < 0.5 ? [perSecond * 60, 'min'] : [perSecond, 's']
  return `${rate < 10 ? Number(rate.toFixed(1)) : formatCount(Math.round(rate))}/${unit}`
}

/** Whole seconds below a minute, and whole minutes above. */
function roundTime(ms: number): number {
  const unit = ms < 60_000 ? 1_000 : 60_000
  return Math.ceil(ms / unit) * unit
}

export const isFinished = ({ status }: Pick<Run, 'status'>): boolean =>
  !['pending', 'running', 'waiting'].includes(status)

/** Whether a retry may fit; the API has the last word. */
export const canRetry = ({ status, isCanceledByRule }: Pick<Run, 'status' | 'isCanceledByRule'>): boolean =>
  status === 'failed' || (status === 'canceled' && !isCanceledByRule)

/** The cause of a run: its event, a tick, or another run. */
export function causeOf(run: Run): string {
  if (run.eventType !== null) return run.eventType
  if (run.tickAt !== null) return 'tick'
  if (run.origin === 'continue') return 'the run before it'
  return run.parentRun === null ? 'by hand' : 'another run'
}

export type Workflow = AnswerOf<'GET /workflows'>['items'][number]

export function triggerOf({ eventTypes, schedule }: Workflow): string {
  if (schedule) return `cron ${schedule.expression}`
  return eventTypes.length === 0 ? 'being invoked' : eventTypes.join(', ')
}
