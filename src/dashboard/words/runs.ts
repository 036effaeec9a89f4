import type { AnswerOf } from '../../admin/contract/routes.ts'

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

/** One line that says why a run is where it is: its error, or the reason of its wait. */
export function whyOf({ error, reason }: Pick<Run, 'error' | 'reason'>): string {
  return error?.message ?? reason ?? ''
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
