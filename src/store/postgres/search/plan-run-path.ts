import { firstId } from '../../../core/ids.ts'
import { groupFailure } from '../../../core/runs/failures/failure-group.ts'
import type { RunFilter, RunStatus } from '../../../core/runs/run.ts'
import { stepNameOf } from '../../../core/runs/step.ts'
import { type Condition, likePattern } from '../../rows/build-where.ts'
import type { EventTable } from '../incoming/event-table.ts'
import { FOR_PERSON } from '../runs/open-runs.ts'

/** How the runs of a filter are read, in the order of their ids. */
export interface RunPath {
  /** Where the conditions of `along` are found. */
  source: string
  /** Conditions that an index answers: rows outside them are not read. */
  along: Condition[]
  /** Conditions on each row read. */
  each: Condition[]
  /** A condition that needs our own code; null without one. */
  keeps: ((row: { workflow: string; error: string | null }) => boolean) | null
}

const IS_FOR_PERSON = `run.id IN (SELECT work.run_id FROM work WHERE ${FOR_PERSON})`

/** The shortest way to the runs of a filter. */
export async function planRunPath(filter: RunFilter, events: EventTable): Promise<RunPath> {
  const { along, answered, source = 'full_run' } = await chooseIndex(filter, events)
  const rest: RunFilter = { ...filter }
  for (const name of answered) delete rest[name]
  return { source, along: [...along, ...describeSpan(filter)], each: describeRest(rest), keeps: planKeeps(rest) }
}

/** The ends of runs alone: a slice of failures reads no other run. */
const ENDS = '(SELECT run_id AS id, status AS end_status, workflow AS end_workflow FROM outcome)'

interface Index {
  /** Default: `full_run`. */
  source?: string
  along: Condition[]
  /** Parts of the filter that `along` stands for. */
  answered: (keyof RunFilter)[]
}

/**
 * Index: run_caused, run_origin, run_invoked, those of `work`, outcome_failed, outcome_ended_badly,
 * outcome_resolved.
 */
async function chooseIndex(filter: RunFilter, events: EventTable): Promise<Index> {
  const { eventId, account, originRun, parentRun, waitsForPerson, workflow, error, step, failureGroup, resolved } =
    filter
  if (eventId !== undefined) {
    const seqs = await events.findSeqs(eventId, account)
    return { along: [['run.event_seq = ANY (?::bigint[])', seqs]], answered: ['eventId', 'account'] }
  }
  if (originRun !== undefined) return { along: [['run.origin_run = ?', originRun]], answered: ['originRun'] }
  if (parentRun !== undefined) return { along: [['run.parent_run = ?', parentRun]], answered: ['parentRun'] }
  if (waitsForPerson) return { along: [[IS_FOR_PERSON]], answered: ['waitsForPerson'] }
  if (resolved) return { along: [['run.resolution IS NOT NULL']], answered: ['resolved'] }
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
        ? { source: ENDS, along: [[`run.end_status = 'failed'`]], answered }
        : {
            source: ENDS,
            along: [[`run.end_status = 'failed' AND run.end_workflow = ?`, workflow]],
            answered: [...answered, 'workflow'],
          }
    case 'canceled':
      return { source: ENDS, along: [[`run.end_status = 'canceled'`]], answered }
    // Unfinished runs are few, but their indexes have another order, so these are sorted.
    case 'pending':
    case 'running':
    case 'waiting':
      return { along: [['run.work_status = ?', status]], answered }
    default:
      return { along: [], answered: [] }
  }
}

/** Ids sort by time, so that every index that ends in the id is bounded by it, too. */
function describeSpan({ since, until, before }: RunFilter): Condition[] {
  return [
    ...(since === undefined ? [] : [['run.id >= ?', firstId('run', since)] as const]),
    ...(until === undefined ? [] : [['run.id < ?', firstId('run', until)] as const]),
    ...(before === undefined ? [] : [['run.id < ?', before] as const]),
  ]
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
  if (waitsForPerson) conditions.push([IS_FOR_PERSON])
  if ([error, step, failureGroup, resolved].some((part) => part !== undefined))
    conditions.push([`run.status = 'failed'`])
  if (error !== undefined) {
    const text = `(run.error::json ->> 'name') || ': ' || (run.error::json ->> 'message')`
    conditions.push([`${text} ILIKE ?`, likePattern(error)])
  }
  return conditions
}

/**
 * Parts of a filter that compare what only our code knows: the name of a step, a kind of failure.
 */
function planKeeps({ step, failureGroup }: RunFilter): RunPath['keeps'] {
  if (step === undefined && failureGroup === undefined) return null
  return ({ workflow, error }) => {
    if (error === null) return false
    const failure = JSON.parse(error)
    if (failureGroup !== undefined && groupFailure(workflow, failure).id !== failureGroup) return false
    const { step: key } = failure
    return step === undefined || (typeof key === 'string' && (key === step || stepNameOf(key) === step))
  }
}
