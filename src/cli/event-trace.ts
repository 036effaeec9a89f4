import type { EventRecord } from '../core/event.ts'
import { isPlainObject } from '../core/json.ts'
import type { Run } from '../core/run.ts'
import type { Checkpoint, Effect } from '../core/step.ts'
import type { ReadStore, StepFailure } from '../core/store.ts'
import { describeRefusal, nameDeliveries } from './delivery-view.ts'
import { formatBytes, formatMoment } from './format-value.ts'
import { describeOrigin, describeReason } from './run-view.ts'

/** One thing that happened because of what stands above it. */
export interface TraceNode {
  /** `subject`: the file or transfer that the event tells of. `call`: a step that called the Files API. */
  kind: 'subject' | 'delivery' | 'event' | 'run' | 'step' | 'call' | 'attempt' | 'cut'
  /** An id, a step's key, or what the subject is. */
  name: string
  /** What it is about: a type, a workflow, a target. */
  about: string | null
  status: string | null
  effect: Effect | null
  /** What became of it, why it waits or failed, how a run goes back to the one above it. */
  note: string | null
  /** Epoch milliseconds; null where nobody knows. */
  startedAt: number | null
  finishedAt: number | null
  children: TraceNode[]
}

/** Rows of one kind that are read for one parent. */
const MOST_OF_A_KIND = 200
/** Runs of a trace; what comes after them is left out, and said to be. */
const MOST_RUNS = 500

interface Trace {
  store: ReadStore
  now: number
  /** Ids of runs and keys of events that stand in the tree already. */
  seen: Set<string>
  runsLeft: number
}

/** The whole story of an event: what it tells of, how it came, what it started, and all that followed from that. */
export async function readTrace(store: ReadStore, event: EventRecord, now: number): Promise<TraceNode> {
  const trace: Trace = { store, now, seen: new Set(), runsLeft: MOST_RUNS }
  const root = await traceEvent(trace, event)
  const subject = nameSubject(event)
  return subject === null ? root : { ...newNode('subject', subject), children: [root] }
}

async function traceEvent(trace: Trace, event: EventRecord): Promise<TraceNode> {
  const { store } = trace
  const deliveries = await nameDeliveries(store, await store.listDeliveriesOf(event, MOST_OF_A_KIND))
  const found = await store.listRuns({ limit: MOST_OF_A_KIND + 1, eventId: event.id, account: event.account })
  const runs = found.slice(0, MOST_OF_A_KIND).toReversed()
  const ids = new Set(runs.map(({ id }) => id))
  // A replay, a fork and what follows a failure have the same event, and stand under the run that they go back to.
  const isFirst = ({ originRun }: Run) => originRun === null || !ids.has(originRun)
  const children: TraceNode[] = deliveries.toReversed().map((delivery) => ({
    ...newNode('delivery', delivery.id),
    about: delivery.endpoint,
    status: delivery.verdict,
    note: describeRefusal(delivery),
    startedAt: delivery.receivedAt,
  }))
  for (const run of runs.filter(isFirst)) children.push(...(await traceRun(trace, run, runs)))
  if (found.length > runs.length)
    children.push(cut(`more than ${MOST_OF_A_KIND} runs: upshot runs list --event ${event.id}`))
  return { ...newNode('event', event.id), about: event.type, startedAt: event.receivedAt, children }
}

/** The run with its steps, and behind them the runs among `others` that go back to it. Nothing when it stands in the tree already. */
async function traceRun(trace: Trace, run: Run, others: readonly Run[]): Promise<TraceNode[]> {
  if (trace.seen.has(run.id)) return []
  if (trace.runsLeft === 0) return [cut(`more runs: upshot runs show ${run.id}`)]
  trace.seen.add(run.id)
  trace.runsLeft -= 1
  const failures = await trace.store.listStepFailures(run.id)
  const children: TraceNode[] = []
  for (const step of await trace.store.listSteps(run.id)) children.push(await traceStep(trace, step, failures))
  for (const each of others.filter(({ originRun }) => originRun === run.id)) {
    children.push(...(await traceRun(trace, each, others)))
  }
  const note = [describeOrigin(run), describeReason(run, trace.now)].filter((part) => part !== null).join('; ')
  return [
    {
      ...newNode('run', run.id),
      about: run.handler === 'run' ? run.workflow : `${run.workflow} (${run.handler})`,
      status: run.status,
      note: note === '' ? null : note,
      startedAt: run.startedAt ?? run.createdAt,
      finishedAt: run.finishedAt,
      children,
    },
  ]
}

async function traceStep(trace: Trace, step: Checkpoint, failures: readonly StepFailure[]): Promise<TraceNode> {
  const { key, target, status, effect, startedAt, finishedAt } = step
  const call = /^files\.(\w+)/.exec(key)
  return {
    ...newNode(call ? 'call' : 'step', call ? `files.${call[1]}` : key),
    ...{ about: target, status, effect, startedAt, finishedAt },
    note: describeEnd(step, trace.now),
    children: failures.filter((failure) => failure.key === key).map(traceAttempt),
  }
}

function traceAttempt({ attempt, at, error }: StepFailure): TraceNode {
  const note = `${error.name}: ${error.message}`
  return { ...newNode('attempt', String(attempt)), status: 'failed', note, finishedAt: at }
}

/** What a step left behind: the outcome of a delete, the size of a download, the moment that it waits for. */
function describeEnd({ status, output, error, dueAt }: Checkpoint, now: number): string | null {
  if (status === 'failed') return error?.message ?? null
  if (status === 'waiting') return dueAt === null ? null : `until ${formatMoment(dueAt, now)}`
  const value: unknown = output === null ? null : JSON.parse(output)
  if (!isPlainObject(value)) return null
  const { outcome, proof, bytes } = value
  if (typeof outcome === 'string') return proof === 'verified' ? `${outcome}, verified` : outcome
  return typeof bytes === 'number' ? formatBytes(bytes) : null
}

/** The file or transfer that an event tells of, as far as its undocumented `data` looks like one. */
function nameSubject({ type, body }: EventRecord): string | null {
  const data: unknown = body === '' ? null : JSON.parse(body).data
  if (!isPlainObject(data)) return null
  const { file, transfer } = data
  if (isPlainObject(transfer) && typeof transfer.id === 'string') {
    const ends = [transfer.source, transfer.destination].map(namePlace).filter((end) => end !== null)
    return [`transfer ${transfer.id}`, ...(ends.length === 2 ? [`${ends[0]} → ${ends[1]}`] : [])].join(', ')
  }
  if (!type.startsWith('file.') || !isPlainObject(file)) return null
  const place = namePlace({ service: data.service, ...file })
  return place === null ? null : `file ${place}`
}

function namePlace(value: unknown): string | null {
  if (!isPlainObject(value)) return null
  const { service, path, id } = value
  const where = typeof path === 'string' ? path : id
  if (typeof where !== 'string') return null
  return typeof service === 'string' ? `${service}:${where}` : where
}

function newNode(kind: TraceNode['kind'], name: string): TraceNode {
  const nothing = { about: null, status: null, effect: null, note: null, startedAt: null, finishedAt: null }
  return { kind, name, ...nothing, children: [] }
}

function cut(note: string): TraceNode {
  return { ...newNode('cut', '…'), note }
}
