import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { type Progress, shareOf, timeLeft } from '../../../core/runs/annotations/progress.ts'
import { formatTags, type Tags } from '../../../core/runs/annotations/tags.ts'
import { isFinished, type RunOrigin, type RunStatus } from '../../../core/runs/run.ts'
import type { StepStatus } from '../../../core/runs/step.ts'
import { formatMoment, formatSpan } from '../../terminal/format-value.ts'
import type { Style } from '../../terminal/output.ts'
import type { Column } from '../../terminal/table.ts'

type ShownRun = AnswerOf<'GET /runs'>['items'][number]

/** The cause of a run: its event, tick, parent run or a person, with its origin if unusual. */
export function describeCause({
  eventId,
  tickAt,
  origin,
  parentRun,
}: Pick<ShownRun, 'eventId' | 'tickAt' | 'origin' | 'parentRun'>): string {
  if (origin === 'continue') return 'the run before it'
  const start = parentRun === null ? 'by hand' : `invoked by ${parentRun}`
  const cause = eventId ?? (tickAt === null ? start : `tick of ${formatMoment(tickAt)}`)
  return cause === start || origin === 'event' || origin === 'tick' ? cause : `${cause} (${ORIGINS[origin]})`
}

const ORIGINS = {
  manual: 'by hand',
  replay: 'replayed',
  plan: 'by its plan',
  fork: 'forked',
  failure: 'after a failure',
  continue: 'continued',
} as const satisfies Record<Exclude<RunOrigin, 'event' | 'tick'>, string>

const LINEAGE = {
  manual: 'made by hand',
  replay: 'repeats',
  plan: 'repeats by a plan',
  fork: 'forked from',
  failure: 'follows the failure of',
  continue: 'continues',
} as const satisfies Record<Exclude<RunOrigin, 'event' | 'tick'>, string>

/** The run that this one derives from, such as `forked from run_…`; null if none. */
export function describeOrigin({ origin, originRun }: Pick<ShownRun, 'origin' | 'originRun'>): string | null {
  if (originRun === null || origin === 'event' || origin === 'tick') return null
  return `${LINEAGE[origin]} ${originRun}`
}

/** The person who has resolved a failed run, and why; null where nobody has. */
export function describeResolution({ resolution }: Pick<ShownRun, 'resolution'>): string | null {
  return resolution && `by ${resolution.by}, ${formatMoment(resolution.at)}: ${resolution.reason}`
}

/** The tags of a run, by name; null without any. */
export function describeTags({ tags }: { tags: Tags }): string | null {
  return formatTags(tags) || null
}

/** A bar for a run that is not finished; null for any other. */
function drawProgress({ status, progress }: Pick<ShownRun, 'status' | 'progress'>): string | null {
  return progress === null || isFinished(status) ? null : drawBar(progress, 10)
}

/** A moment in a reason, as the store writes it. */
const MOMENT = /\d{4}-\d\d-\d\dT[\d:.]+Z/g

/** The reason of a run's status: its error, or what it waits for. */
export function describeReason({
  status,
  reason,
  dueAt,
  needsPerson,
  isInLine,
  error,
  resolution,
}: Pick<ShownRun, 'status' | 'reason' | 'dueAt' | 'needsPerson' | 'isInLine' | 'error' | 'resolution'>): string | null {
  if (status === 'failed' && resolution) return `resolved: ${resolution.reason}`
  if (status === 'failed') return error?.message ?? null
  // The reason of a run in line names what it waits behind.
  if (isInLine) return reason?.replace(MOMENT, (moment) => formatMoment(moment) ?? moment) ?? null
  if (status === 'waiting') {
    const until = dueAt === null ? (needsPerson ? 'waits for a person' : null) : `until ${formatMoment(dueAt)}`
    const parts = [reason, until, error?.message].filter((part) => part !== null && part !== undefined)
    return parts.join(', ').replaceAll('., ', ', ')
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
  planned: 'bold',
}

export function styleStatus({ status }: { status: RunStatus | StepStatus }): Style | null {
  return STYLES[status]
}

export const RUN_COLUMNS: Column<ShownRun>[] = [
  { title: 'RUN', value: ({ id }) => id, isId: true },
  { title: 'WORKFLOW', value: ({ workflow }) => workflow, least: 10 },
  { title: 'STATUS', value: ({ status }) => status, cut: 'never', style: styleStatus },
  { title: 'PROGRESS', value: drawProgress, cut: 'never', isMinor: true, isRare: true },
  { title: 'TAGS', value: describeTags, most: 60, least: 12, isMinor: true, isRare: true },
  { title: 'CAUSE', value: describeCause, most: 60, least: 12, isMinor: true },
  { title: 'CREATED', value: ({ createdAt }) => formatMoment(createdAt), cut: 'never', isMinor: true },
  {
    title: 'TOOK',
    value: ({ startedAt, finishedAt }) => formatSpan(startedAt, finishedAt),
    cut: 'never',
    align: 'right',
    isMinor: true,
  },
  { title: 'WHY', value: describeReason, most: 80, least: 24 },
]

/** Columns of a table of one event's runs, which need neither cause nor creation time. */
export const EVENT_RUN_COLUMNS = RUN_COLUMNS.filter(({ title }) => title !== 'CAUSE' && title !== 'CREATED')

/** Progress in any form: with its moment as a number or as text. */
type Shown = Omit<Progress, 'at'>

/** A bar of so many columns, such as `███····· 34 %`. */
export function drawBar(progress: Shown, cells: number): string {
  const share = shareOf(progress)
  const full = Math.floor(share * cells)
  return `${'█'.repeat(full)}${'·'.repeat(cells - full)} ${String(Math.floor(share * 100)).padStart(3)} %`
}

/**
 * Progress in words, such as `3,412 of 10,000 files compared, 4 failed, 12/s, 9 min left`. Without
 * rate and time left where the run is not at work.
 */
export function describeProgress(progress: Shown, isAtWork: boolean): string {
  const { done, total, failed, note, rate } = progress
  const left = timeLeft(progress)
  const parts = [
    `${formatCount(done)} of ${formatCount(total)}${note === null ? '' : ` ${note}`}`,
    failed === 0 ? null : `${formatCount(failed)} failed`,
    rate === null || !isAtWork ? null : formatRate(rate),
    left === null || !isAtWork ? null : `${formatLeft(left)} left`,
  ]
  return parts.filter((part) => part !== null).join(', ')
}

function formatCount(count: number): string {
  return count.toLocaleString('en', { maximumFractionDigits: 1 })
}

function formatRate(perSecond: number): string {
  const [rate, unit] = perSecond < 0.5 ? [perSecond * 60, 'min'] : [perSecond, 's']
  return `${formatCount(rate < 10 ? rate : Math.round(rate))}/${unit}`
}

function formatLeft(ms: number): string {
  const seconds = Math.ceil(ms / 1_000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
