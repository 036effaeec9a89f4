import type { EventRecord } from '../../../core/incoming/event.ts'
import { nameSubject } from '../../../core/incoming/subject.ts'
import { isPlainObject } from '../../../core/json.ts'
import type { Run, RunFilter } from '../../../core/runs/run.ts'
import type { Checkpoint, Effect, StepKind } from '../../../core/runs/step.ts'
import type { StepFailure } from '../../../core/store/journal.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import { formatBytes, formatMoment } from '../../terminal/format-value.ts'
import { describeRefusal, type NamedDelivery, nameDeliveries } from '../deliveries/delivery-view.ts'
import { describeOrigin, describeReason } from '../runs/run-view.ts'

/** One node of a trace. Its parent is its cause. */
export interface TraceNode {
  /** `subject`: the event's file or transfer. `call`: a step that called the Files API. */
  kind: 'subject' | 'delivery' | 'event' | 'run' | 'call' | 'step' | Exclude<StepKind, 'run'> | 'attempt' | 'cut'
  /** An id, a step's key, or the subject in words. */
  name: string
  /** A type, a workflow or a target. */
  about: string | null
  status: string | null
  effect: Effect | null
  /** The outcome, the reason of a wait or failure, or a run's relation to its parent. */
  note: string | null
  /** Epoch milliseconds; null if unknown. */
  startedAt: number | null
  finishedAt: number | null
  children: TraceNode[]
}

/** Rows of one kind that are read for one node. */
const MAX_ROWS = 200
/** Runs in one trace. A `cut` node stands for the rest. */
const MAX_RUNS = 500

interface Trace {
  store: ReadStore
  /** The account of the event, its runs and further events. */
  account: string
  now: number
  /** Ids of the runs and events in the tree so far. */
  seen: Set<string>
  runsLeft: number
}

/**
 * The tree of an event: its subject, deliveries and runs, and everything these caused.
 *
 * The story is read to its end, step by step. The admin API has another walk, of runs and events
 * alone and the nearest first. Its page loads steps where a person opens them.
 */
export async function readEventTrace(store: ReadStore, event: EventRecord, now: number): Promise<TraceNode> {
  const root = await traceEvent({ store, account: event.account, now, seen: new Set(), runsLeft: MAX_RUNS }, event)
  const subject = nameSubject(event)
  return subject === null ? root : { ...newNode('subject', subject), children: [root] }
}

async function traceEvent(trace: Trace, event: EventRecord): Promise<TraceNode> {
  const { store, account } = trace
  const node = { ...newNode('event', event.id), about: event.type, startedAt: event.receivedAt }
  if (trace.seen.has(event.id)) return { ...node, note: 'see above' }
  trace.seen.add(event.id)
  const deliveries = await nameDeliveries(store, await store.listDeliveriesOf(event, MAX_ROWS))
  const found = await store.listRuns({ limit: MAX_ROWS + 1, eventId: event.id, account })
  // Oldest first: replays and forks have the same event, but belong below their origin.
  const runs = found.slice(0, MAX_ROWS).toReversed()
  const rest = found.length > runs.length ? [cut(`more runs: upshot runs list --event ${event.id}`)] : []
  const children = [...deliveries.toReversed().map(traceDelivery), ...(await traceRuns(trace, runs)), ...rest]
  return { ...node, children }
}

function traceDelivery(delivery: NamedDelivery): TraceNode {
  const { id, endpoint, verdict, receivedAt } = delivery
  return {
    ...newNode('delivery', id),
    ...{ about: endpoint, status: verdict, note: describeRefusal(delivery), startedAt: receivedAt },
  }
}

/** Sequential, because all share one budget of runs. */
async function traceRuns(trace: Trace, runs: readonly Run[]): Promise<TraceNode[]> {
  const nodes: TraceNode[] = []
  for (const run of runs) {
    if (trace.seen.has(run.id)) continue
    if (trace.runsLeft === 0) return [...nodes, cut(`more runs: upshot runs show ${run.id}`)]
    nodes.push(await traceRun(trace, run))
  }
  return nodes
}

/** The run with its steps, then the run that absorbed it and the runs derived from it. */
async function traceRun(trace: Trace, run: Run): Promise<TraceNode> {
  const { store } = trace
  trace.seen.add(run.id)
  trace.runsLeft -= 1
  const about = {
    failures: await store.listStepFailures(run.id),
    invoked: await listRuns(store, { parentRun: run.id }),
  }
  const children: TraceNode[] = []
  for (const step of await store.listSteps(run.id)) children.push(await traceStep(trace, step, about))
  const absorber = run.foldedInto === null ? null : await store.findRun(run.foldedInto)
  const later = await listRuns(store, { originRun: run.id })
  children.push(...(await traceRuns(trace, absorber ? [absorber, ...later] : later)))
  const folded = run.folded === 0 ? null : `${run.folded} folded into it`
  const notes = [folded, describeOrigin(run), describeReason(run, trace.now)].filter((part) => part !== null)
  return {
    ...newNode('run', run.id),
    about: run.handler === 'run' ? run.workflow : `${run.workflow} (${run.handler})`,
    status: run.status,
    note: notes.length === 0 ? null : notes.join('; '),
    startedAt: run.startedAt ?? run.createdAt,
    finishedAt: run.finishedAt,
    children,
  }
}

/** Reads up to {@link MAX_ROWS} runs, oldest first. */
async function listRuns(store: ReadStore, filter: RunFilter): Promise<Run[]> {
  return (await store.listRuns({ ...filter, limit: MAX_ROWS })).toReversed()
}

/** A step with its failed attempts, and the event or runs that it created. */
async function traceStep(
  trace: Trace,
  step: Checkpoint,
  { failures, invoked }: { failures: readonly StepFailure[]; invoked: readonly Run[] },
): Promise<TraceNode> {
  const { key, kind, target, status, effect, startedAt, finishedAt } = step
  const call = /^files\.(\w+)/.exec(key)
  const attempts = failures.filter((failure) => failure.key === key).map(traceAttempt)
  const made = kind === 'send' ? await traceSent(trace, step) : []
  const children = await traceRuns(
    trace,
    invoked.filter(({ parentStep }) => parentStep === key),
  )
  return {
    ...newNode(call ? 'call' : kind === 'run' ? 'step' : kind, call ? `files.${call[1]}` : key),
    ...{ about: kind === 'invoke' ? null : target, status, effect, startedAt, finishedAt },
    note: describeEnd(step, trace.now),
    children: [...attempts, ...made, ...children],
  }
}

async function traceSent(trace: Trace, step: Checkpoint): Promise<TraceNode[]> {
  const value = readOutput(step)
  const id = isPlainObject(value) ? value.id : null
  const events = typeof id === 'string' ? await trace.store.findEvents(id) : []
  const event = events.find(({ account }) => account === trace.account)
  return event ? [await traceEvent(trace, event)] : []
}

function traceAttempt({ attempt, at, error }: StepFailure): TraceNode {
  const note = `${error.name}: ${error.message}`
  return { ...newNode('attempt', String(attempt)), status: 'failed', note, finishedAt: at }
}

/** A step's outcome in words: of a delete, a download or a wait. */
function describeEnd(step: Checkpoint, now: number): string | null {
  const { kind, status, error, dueAt } = step
  if (status === 'failed') return error?.message ?? null
  if (status === 'waiting') return dueAt === null ? null : `until ${formatMoment(dueAt, now)}`
  if (status === 'started') return 'its outcome is not known yet'
  const value = readOutput(step)
  const isEvent = kind === 'wait' || kind === 'receive'
  if (isEvent && value === null && step.output !== null) return 'no event arrived in time'
  if (!isPlainObject(value)) return null
  if (isEvent) return `${value.id} arrived`
  const { outcome, proof, bytes } = value
  if (typeof outcome === 'string') return proof === 'verified' ? `${outcome}, verified` : outcome
  return typeof bytes === 'number' ? formatBytes(bytes) : null
}

/** The result; null too for a large one, which is stored apart. */
function readOutput({ output }: Checkpoint): unknown {
  return output === null ? null : JSON.parse(output)
}

function newNode(kind: TraceNode['kind'], name: string): TraceNode {
  const nothing = { about: null, status: null, effect: null, note: null, startedAt: null, finishedAt: null }
  return { kind, name, ...nothing, children: [] }
}

function cut(note: string): TraceNode {
  return { ...newNode('cut', '…'), note }
}
