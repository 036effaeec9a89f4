import type { EventRecord } from '../../core/incoming/event.ts'
import { isPlainObject } from '../../core/json.ts'
import type { Run } from '../../core/runs/run.ts'
import type { ReadStore } from '../../core/store/store.ts'
import { findAbsorber } from './find-absorber.ts'

/** How a node came from its parent. */
type Cause = 'started' | 'invoked' | 'sent' | 'absorbed' | 'replayed' | 'forked' | 'failed' | 'continued'

type Node = { id: string; parent: string | null; cause: Cause | null; step: string | null; isCut: boolean } & (
  | { kind: 'event'; event: EventRecord }
  | { kind: 'run'; run: Run }
)

type TraceStore = Pick<ReadStore, 'findRun' | 'listRuns' | 'listSends' | 'findEvents'>

/** Nodes of one trace. */
const MAX_NODES = 500
/** Nodes that one event or run is read with. */
const MAX_CHILDREN = 100

const CAUSES: Partial<Record<Run['origin'], Cause>> = {
  replay: 'replayed',
  fork: 'forked',
  failure: 'failed',
  continue: 'continued',
}

/**
 * The events and runs that go back to one event, nearest first; each parent comes before its
 * children. `isCut` marks nodes with more children than are there.
 */
export async function readTrace(store: TraceStore, root: EventRecord, signal: AbortSignal): Promise<Node[]> {
  const nodes: Node[] = [{ ...nodeOf(root.id, null), kind: 'event', event: root }]
  const seen = new Set([root.id])
  for (let at = 0; at < nodes.length; at += 1) {
    const node = nodes[at]
    if (node === undefined || signal.aborted) break
    const found = await (node.kind === 'event' ? listOfEvent(store, node.event) : listOfRun(store, node.run, root))
    const fresh = found.children.filter(({ id }) => !seen.has(id))
    const room = fresh.slice(0, Math.max(0, MAX_NODES - nodes.length))
    node.isCut = found.isMore || room.length < fresh.length
    for (const child of room) {
      seen.add(child.id)
      nodes.push({ ...child, parent: node.id })
    }
  }
  return nodes
}

interface Children {
  children: Node[]
  isMore: boolean
}

/** The runs that an event started; replays and forks hang below the run that they repeat. */
async function listOfEvent(store: TraceStore, { id, account }: EventRecord): Promise<Children> {
  const { runs, isMore } = await listRuns(store, { eventId: id, account })
  const own = runs.filter(({ originRun, parentRun }) => originRun === null && parentRun === null)
  return { children: own.map((run) => toNode(run, CAUSES[run.origin] ?? 'started')), isMore }
}

/** The runs that it invoked, the events that it sent, and runs that absorb, repeat or follow it. */
async function listOfRun(store: TraceStore, run: Run, { account }: EventRecord): Promise<Children> {
  const invoked = await listRuns(store, { parentRun: run.id })
  const later = await listRuns(store, { originRun: run.id })
  const sends = await store.listSends(run.id, MAX_CHILDREN + 1)
  const sent: Node[] = []
  for (const { key, output } of sends.slice(0, MAX_CHILDREN)) {
    const event = await findSent(store, output, account)
    if (event) sent.push({ ...nodeOf(event.id, 'sent', key), kind: 'event', event })
  }
  const absorber = await findAbsorber(store, run)
  return {
    children: [
      ...invoked.runs.map((each) => toNode(each, 'invoked', each.parentStep)),
      ...sent,
      ...(absorber === null ? [] : [toNode(absorber, 'absorbed')]),
      ...later.runs.map((each) => toNode(each, CAUSES[each.origin] ?? 'replayed')),
    ],
    isMore: invoked.isMore || later.isMore || sends.length > MAX_CHILDREN,
  }
}

/** Oldest first. */
async function listRuns(
  store: TraceStore,
  filter: { eventId?: string; account?: string; parentRun?: string; originRun?: string },
) {
  const found = await store.listRuns({ ...filter, limit: MAX_CHILDREN + 1 })
  return { runs: found.slice(0, MAX_CHILDREN).toReversed(), isMore: found.length > MAX_CHILDREN }
}

async function findSent(store: TraceStore, output: string | null, account: string): Promise<EventRecord | null> {
  const value: unknown = output === null ? null : JSON.parse(output)
  const id = isPlainObject(value) ? value.id : null
  if (typeof id !== 'string') return null
  return (await store.findEvents(id)).find((event) => event.account === account) ?? null
}

function toNode(run: Run, cause: Cause, step: string | null = null): Node {
  return { ...nodeOf(run.id, cause, step), kind: 'run', run }
}

function nodeOf(id: string, cause: Cause | null, step: string | null = null) {
  return { id, parent: null, cause, step, isCut: false }
}
