import type { Database } from 'better-sqlite3'
import { firstId } from '../../../core/ids.ts'
import { groupFailure } from '../../../core/runs/failures/failure-group.ts'
import { PAUSED_REASON, QUEUED_TICK_REASON, type RunFilter, type RunStatus } from '../../../core/runs/run.ts'
import { stepNameOf } from '../../../core/runs/step.ts'
import { type Condition, type IdSpan, likePattern, narrowSpan } from '../../rows/build-where.ts'
import type { EventTable } from '../incoming/event-table.ts'

/** How the runs of a filter are read: along one index, in the order of their ids. */
export interface RunPath {
  /** The index to read, as SQL. */
  index: string
  /** Conditions that the index answers: rows outside them are not read. */
  along: Condition[]
  /** The ids to read, within `along`: every index ends in the id. */
  span: IdSpan
  /** Conditions on each row read. */
  each: Condition[]
}

/** The primary key: the path where no index fits. */
export const ALL_RUNS = 'NOT INDEXED'

/** The condition of the index `run_for_person`, word by word. */
const FOR_PERSON = `run.status = 'waiting' AND run.due_at IS NULL AND run.awaits = 0
  AND run.gate_state IS NOT 'in_line' AND run.reason NOT IN ('${PAUSED_REASON}', '${QUEUED_TICK_REASON}')`
/** The condition of `run_ended_badly`: SQLite does not see that one status implies it. */
const ENDED_BADLY = `run.status IN ('failed', 'canceled')`

/** Gives SQLite the functions that conditions on failures call. */
export function addFailureFunctions(db: Database): void {
  db.function('failure_group', { deterministic: true }, (workflow, error) =>
    error === null ? null : groupFailure(String(workflow), JSON.parse(String(error))).id,
  )
  db.function('step_name', { deterministic: true }, (key) => (key === null ? null : stepNameOf(String(key))))
}

/** The shortest way to the runs of a filter. */
export async function planRunPath(filter: RunFilter, events: EventTable): Promise<RunPath> {
  const { index, along, answered } = await chooseIndex(filter, events)
  const rest: RunFilter = { ...filter }
  for (const name of answered) delete rest[name]
  return { index, along, span: spanOf(filter), each: describeRest(rest) }
}

interface Index {
  index: string
  along: Condition[]
  /** Parts of the filter that `along` stands for. */
  answered: (keyof RunFilter)[]
}

async function chooseIndex(filter: RunFilter, events: EventTable): Promise<Index> {
  const { eventId, account, originRun, parentRun, waitsForPerson, workflow, error, step, failureGroup, resolved } =
    filter
  if (eventId !== undefined) {
    const seqs = JSON.stringify(await events.findSeqs(eventId, account))
    const along: Condition[] = [['run.event_seq IN (SELECT value FROM json_each(?))', seqs]]
    return { index: 'INDEXED BY run_caused', along, answered: ['eventId', 'account'] }
  }
  if (originRun !== undefined) {
    return { index: 'INDEXED BY run_origin', along: [['run.origin_run = ?', originRun]], answered: ['originRun'] }
  }
  if (parentRun !== undefined) {
    return { index: 'INDEXED BY run_invoked', along: [['run.parent_run = ?', parentRun]], answered: ['parentRun'] }
  }
  if (waitsForPerson) return { index: 'INDEXED BY run_for_person', along: [[FOR_PERSON]], answered: ['waitsForPerson'] }
  if (resolved) {
    return { index: 'INDEXED BY run_resolved', along: [['run.resolution IS NOT NULL']], answered: ['resolved'] }
  }
  const isOfFailed = [error, step, failureGroup, resolved].some((part) => part !== undefined)
  return chooseByStatus(isOfFailed ? 'failed' : filter.status, workflow, filter.status)
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
      return workflow === undefined
        ? { index: 'INDEXED BY run_ended_badly', along: [[`${ENDED_BADLY} AND run.status = 'failed'`]], answered }
        : {
            index: 'INDEXED BY run_failed',
            along: [[`run.status = 'failed' AND run.workflow = ?`, workflow]],
            answered: [...answered, 'workflow'],
          }
    case 'canceled':
      return { index: 'INDEXED BY run_ended_badly', along: [[`${ENDED_BADLY} AND run.status = 'canceled'`]], answered }
    // Unfinished runs are few, but their indexes have another order, so these are sorted.
    case 'pending':
      return { index: 'INDEXED BY run_ready', along: [[`run.status = 'pending'`]], answered }
    case 'running':
      return { index: 'INDEXED BY run_leased', along: [[`run.status = 'running'`]], answered }
    case 'waiting':
      return { index: 'INDEXED BY run_waiting', along: [[`run.status = 'waiting'`]], answered }
    default:
      return { index: ALL_RUNS, along: [], answered: [] }
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

/** Conditions on single rows, for the parts that no index answers. */
function describeRest(filter: RunFilter): Condition[] {
  const { status, statuses, workflow, origin, originRun, parentRun, waitsForPerson, error, step } = filter
  const { resolved, failureGroup } = filter
  const conditions: Condition[] = []
  if (status !== undefined) conditions.push(['run.status = ?', status])
  if (workflow !== undefined) conditions.push(['run.workflow = ?', workflow])
  if (statuses !== undefined) conditions.push([`run.status IN (${statuses.map(() => '?')})`, ...statuses])
  if (resolved !== undefined) conditions.push([`run.resolution IS ${resolved ? 'NOT NULL' : 'NULL'}`])
  if (origin !== undefined) conditions.push(['run.origin = ?', origin])
  if (originRun !== undefined) conditions.push(['run.origin_run = ?', originRun])
  if (parentRun !== undefined) conditions.push(['run.parent_run = ?', parentRun])
  if (waitsForPerson) conditions.push([FOR_PERSON])
  if ([error, step, failureGroup, resolved].some((part) => part !== undefined))
    conditions.push([`run.status = 'failed'`])
  if (step !== undefined) {
    conditions.push([`? IN (run.error ->> '$.step', step_name(run.error ->> '$.step'))`, step])
  }
  if (error !== undefined) {
    const text = `(run.error ->> '$.name') || ': ' || (run.error ->> '$.message')`
    conditions.push([`${text} LIKE ? ESCAPE '\\'`, likePattern(error)])
  }
  if (failureGroup !== undefined) conditions.push(['failure_group(run.workflow, run.error) = ?', failureGroup])
  return conditions
}
