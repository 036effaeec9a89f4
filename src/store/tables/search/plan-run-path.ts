import { firstId } from '../../../core/ids.ts'
import type { Tag } from '../../../core/runs/annotations/tags.ts'
import { groupFailure } from '../../../core/runs/failure-group.ts'
import { isFinished, type RunFilter, type RunStatus } from '../../../core/runs/run.ts'
import { stepNameOf } from '../../../core/runs/step.ts'
import type { Connection } from '../../connection.ts'
import { type Condition, given, type IdSpan, narrowSpan } from '../../rows/build-where.ts'
import type { Events } from '../incoming/events.ts'
import type { AnnotationTable } from '../runs/annotation-table.ts'
import { FOR_PERSON, UNFINISHED } from '../runs/open-runs.ts'

/** How the runs of a filter are found, in the order of their ids. */
export interface RunPath {
  /** Rows with the `id` of a run that an index finds; `run` alone: the runs themselves. */
  source: string
  /** Conditions that the index answers: rows outside them are not read. */
  along: Condition[]
  /** The ids to read, within `along`: every index ends in the id. */
  span: IdSpan
  /** Conditions on each row read, of `full_run`. */
  each: Condition[]
  /** A condition that needs our own code; null without one. */
  keeps: ((row: { workflow: string; error: string | null }) => boolean) | null
  /** True where all runs of the span are read. */
  isWhole: boolean
}

interface SearchedTables {
  events: Events
  annotations: AnnotationTable
}

/** The tag of a filter with the fewest runs, which are counted up to one more than a slice. */
interface Rarest {
  tag: Tag
  runs: number
}

/** Rows of one slice. */
const FEW = 5_000

async function findRarest(given: readonly Tag[], annotations: AnnotationTable): Promise<Rarest | null> {
  const counted = await Array.fromAsync(given, async (tag) => ({
    tag,
    runs: await annotations.countTagged(tag, FEW + 1),
  }))
  return counted.reduce<Rarest | null>((least, each) => (least && least.runs <= each.runs ? least : each), null)
}

export async function planRunPath(filter: RunFilter, tables: SearchedTables, db: Connection): Promise<RunPath> {
  const rarest = await findRarest(filter.tags ?? [], tables.annotations)
  const { along = [], answered = [], source = 'run' } = await chooseIndex(filter, { ...tables, db, rarest })
  const rest: RunFilter = { ...filter }
  if (source === TAGGED) rest.tags = filter.tags?.filter((tag) => tag !== rarest?.tag) ?? []
  for (const name of answered) delete rest[name]
  const isWhole = source === 'run' && along.length === 0
  return { source, along, span: spanOf(filter), each: describeRest(rest), keeps: planKeeps(rest), isWhole }
}

/** Each has an index that ends in the id, or few rows. */
const FOR_PEOPLE = `(SELECT run_id AS id FROM work WHERE ${FOR_PERSON})`
const WORK = '(SELECT run_id AS id FROM work)'
const ENDED = '(SELECT run_id AS id, status, workflow FROM outcome)'
const TAGGED = '(SELECT run_id AS id, name, value FROM run_tag)'
const RESOLVED = '(SELECT run_id AS id FROM outcome WHERE resolution IS NOT NULL)'
/** In the words of outcome_ended_badly: SQLite does not see that one status implies it. */
const ENDED_BADLY = `run.status IN ('failed', 'canceled')`

interface Index {
  /** Default: `run`. */
  source?: string
  /** Default: none. */
  along?: Condition[]
  /** Parts of the filter that the index stands for. Default: none. */
  answered?: (keyof RunFilter)[]
}

/**
 * Index: run_caused, run_origin, run_invoked, run_tag_value, those of `work`, outcome_failed,
 * outcome_ended_badly, outcome_resolved. Many runs of a tag are read by their status, if it has an
 * index.
 */
async function chooseIndex(
  filter: RunFilter,
  { events, db, rarest }: SearchedTables & { db: Connection; rarest: Rarest | null },
): Promise<Index> {
  const { eventId, account, originRun, parentRun, waitsForPerson, workflow, error, step, failureGroup, resolved } =
    filter
  if (eventId !== undefined) {
    const seqs = await events.findSeqs(eventId, account)
    return { along: [[db.sql.isOneOf('run.event_seq', 'bigint'), seqs]], answered: ['eventId', 'account'] }
  }
  if (originRun !== undefined) return { along: [['run.origin_run = ?', originRun]], answered: ['originRun'] }
  if (parentRun !== undefined) return { along: [['run.parent_run = ?', parentRun]], answered: ['parentRun'] }
  const tagged: Index | null = rarest && { source: TAGGED, along: [['run.name = ? AND run.value = ?', ...rarest.tag]] }
  if (tagged && rarest && rarest.runs <= FEW) return tagged
  if (waitsForPerson) return { source: FOR_PEOPLE, answered: ['waitsForPerson'] }
  if (resolved) return { source: RESOLVED, answered: ['resolved'] }
  const isOfFailed = [error, step, failureGroup, resolved].some((part) => part !== undefined)
  const { status } = filter
  if (!isOfFailed && (status === 'pending' || status === 'running' || status === 'waiting')) {
    return await chooseUnfinished(UNFINISHED[status], db)
  }
  const byStatus = chooseByStatus(isOfFailed ? 'failed' : status, workflow, status)
  return byStatus.source === undefined ? (tagged ?? byStatus) : byStatus
}

/**
 * The indexes of these runs have another order. So a few of them are sorted; where there are many,
 * all unfinished runs are read by their ids.
 */
async function chooseUnfinished(source: string, db: Connection): Promise<Index> {
  const count = db.pluck<[], number>(`SELECT count(*) FROM (SELECT 1 FROM ${source} AS one LIMIT ${FEW + 1}) AS few`)
  if (((await count.get()) ?? 0) > FEW) return { source: WORK }
  // Without a bound, SQLite would read the whole table in the order of its ids.
  return { source: `(SELECT id FROM ${source} AS few LIMIT ${2 * FEW})`, answered: ['status'] }
}

/** `asked` is the filter's own status, which may contradict that of its other parts. */
function chooseByStatus(
  status: RunStatus | undefined,
  workflow: string | undefined,
  asked: RunStatus | undefined,
): Index {
  const answered: (keyof RunFilter)[] = status === asked ? ['status'] : []
  switch (status) {
    case 'failed':
      if (workflow === undefined) {
        return { source: ENDED, along: [[`${ENDED_BADLY} AND run.status = 'failed'`]], answered }
      }
      return {
        source: ENDED,
        along: [[`run.status = 'failed' AND run.workflow = ?`, workflow]],
        answered: [...answered, 'workflow'],
      }
    case 'canceled':
      return { source: ENDED, along: [[`${ENDED_BADLY} AND run.status = 'canceled'`]], answered }
    default:
      return {}
  }
}

/** Ids sort by time. */
function spanOf({ since, until, before }: RunFilter): IdSpan {
  const span = {
    from: since === undefined ? undefined : firstId('run', since),
    below: until === undefined ? undefined : firstId('run', until),
  }
  return narrowSpan(span, { below: before })
}

/** Index: primary key. */
const HAS_TAG = '(SELECT value FROM run_tag WHERE run_tag.run_id = run.id AND run_tag.name = ?) = ?'

/**
 * PostgreSQL has statistics of the status of one side only. By them it expects a page of many such
 * rows, and reads no more than that. `IS NOT DISTINCT FROM` keeps the order of the joins.
 */
const HAS_ENDED = 'run.end_status IS NOT DISTINCT FROM ?'
const IS_UNFINISHED = 'run.work_status IS NOT DISTINCT FROM ?'

/** Conditions on single rows, for the parts that no index answers. */
function describeRest(filter: RunFilter): Condition[] {
  const { status, statuses, workflow, origin, originRun, parentRun, waitsForPerson } = filter
  const { error, step, resolved, failureGroup, tags = [] } = filter
  const conditions = given({
    'run.workflow = ?': workflow,
    'run.origin = ?': origin,
    'run.origin_run = ?': originRun,
    'run.parent_run = ?': parentRun,
  })
  if (status !== undefined) conditions.push([isFinished(status) ? HAS_ENDED : IS_UNFINISHED, status])
  if (statuses !== undefined) conditions.push([`run.status IN (${statuses.map(() => '?')})`, ...statuses])
  if (resolved !== undefined) conditions.push([`run.resolution IS ${resolved ? 'NOT NULL' : 'NULL'}`])
  for (const [name, value] of tags) conditions.push([HAS_TAG, name, value])
  if (waitsForPerson) conditions.push([`run.id IN ${FOR_PEOPLE}`])
  if ([error, step, failureGroup, resolved].some((part) => part !== undefined))
    conditions.push([`run.status = 'failed'`])
  return conditions
}

/**
 * Parts of a filter that compare what is in an error: its text, the name of its step, its kind.
 */
function planKeeps({ error: text, step, failureGroup }: RunFilter): RunPath['keeps'] {
  if ([text, step, failureGroup].every((part) => part === undefined)) return null
  return ({ workflow, error }) => {
    if (error === null) return false
    const failure = JSON.parse(error)
    if (failureGroup !== undefined && groupFailure(workflow, failure).id !== failureGroup) return false
    if (text !== undefined && !lower(`${failure.name}: ${failure.message}`).includes(lower(text))) return false
    const { step: key } = failure
    return step === undefined || (typeof key === 'string' && (key === step || stepNameOf(key) === step))
  }
}

/** ASCII letters alone. */
function lower(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
