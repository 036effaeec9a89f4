import type { Run, RunOrigin, RunStatus } from '../../../core/runs/run.ts'
import type { StepStatus } from '../../../core/runs/step.ts'
import { formatMoment, formatSpan, withIsoTimes } from '../../terminal/format-value.ts'
import type { Style } from '../../terminal/output.ts'
import type { Column } from '../../terminal/table.ts'

/** A run for JSON: moments as text, its output as a value. */
export function describeRun({ output, ...run }: Run): Record<string, unknown> {
  return { ...withIsoTimes(run), output: parseOutput(output) }
}

/** The value in a row's JSON text. */
export function parseOutput(output: string | null): unknown {
  return output === null ? null : JSON.parse(output)
}

/** What made it run: its event or its due moment. */
export function describeCause({ eventId, tickAt, origin, parentRun }: Run, now: number): string | null {
  if (eventId === null && tickAt === null) return parentRun && `invoked by ${parentRun}`
  const cause = eventId ?? (tickAt === null ? null : `tick of ${formatMoment(tickAt, now)}`)
  return cause === null || origin === 'event' || origin === 'tick' ? cause : `${cause} (${ORIGINS[origin]})`
}

const ORIGINS = {
  manual: 'by hand',
  replay: 'replayed',
  fork: 'forked',
  failure: 'after a failure',
} as const satisfies Record<Exclude<RunOrigin, 'event' | 'tick'>, string>

const LINEAGE = {
  manual: 'made by hand',
  replay: 'repeats',
  fork: 'forked from',
  failure: 'follows the failure of',
} as const satisfies Record<Exclude<RunOrigin, 'event' | 'tick'>, string>

/** Which run it goes back to, such as `forked from run_…`; null for the first of its line. */
export function describeOrigin({ origin, originRun }: Pick<Run, 'origin' | 'originRun'>): string | null {
  if (originRun === null || origin === 'event' || origin === 'tick') return null
  return `${LINEAGE[origin]} ${originRun}`
}

/** Why it is where it is: what it waits for, or what went wrong. */
export function describeReason({ status, reason, dueAt, awaits, isInLine, error }: Run, now: number): string | null {
  if (status === 'failed') return error?.message ?? null
  // In line: the reason says who is before it, and the next moment where there is one.
  if (isInLine) return reason
  if (status === 'waiting') {
    const until = dueAt === null ? (awaits ? null : 'waits for a person') : `until ${formatMoment(dueAt, now)}`
    return [reason, until, error?.message].filter((part) => part !== null && part !== undefined).join(', ')
  }
  return reason
}

const STYLES: Record<RunStatus | StepStatus, Style | null> = {
  pending: null,
  running: 'bold',
  waiting: 'yellow',
  started: 'bold',
  completed: 'green',
  failed: 'red',
  canceled: 'yellow',
  skipped: 'dim',
}

export function styleStatus({ status }: { status: RunStatus | StepStatus }): Style | null {
  return STYLES[status]
}

/** The runs of one event, whose cause needs no column. */
export function eventRunColumns(now: number): Column<Run>[] {
  return [
    { title: 'RUN', value: ({ id }) => id },
    { title: 'WORKFLOW', value: ({ workflow }) => workflow },
    { title: 'STATUS', value: ({ status }) => status, style: styleStatus },
    { title: 'TOOK', value: ({ startedAt, finishedAt }) => formatSpan(startedAt, finishedAt), align: 'right' },
    { title: 'WHY', value: (run) => describeReason(run, now), most: 80 },
  ]
}
