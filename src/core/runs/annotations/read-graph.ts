import { type Checkpoint, type Effect, type StepKind, stepNameOf } from '../step.ts'
import { findUsual } from '../usual-time.ts'

/** A step of a workflow, as its runs had it. Those of one name, as in a loop, are one. */
interface GraphNode {
  name: string
  kind: StepKind
  effect: Effect
  runs: number
  /** Steps of this name in all of these runs. */
  times: number
  /** Runs in which one of them failed for good. */
  failed: number
  /** Median of its time; null without an ended one. */
  p50Ms: number | null
}

/** A step that began after another one had ended, with none between. */
interface GraphEdge {
  from: string
  to: string
  /** Runs that went this way. */
  runs: number
}

type Step = Pick<Checkpoint, 'key' | 'kind' | 'effect' | 'status' | 'startedAt' | 'finishedAt' | 'position'>

/** Steps of one run that are looked at: a loop of thousands says nothing new. */
const MAX_STEPS = 500

/** The steps of a workflow and their order, read from its runs; nodes in the order of beginning. */
export function readGraph(runs: readonly (readonly Step[])[]): { nodes: GraphNode[]; edges: GraphEdge[] } {
  const seen = new Map<string, { steps: Step[]; runs: number; failed: number }>()
  const edges = new Map<string, GraphEdge>()
  for (const all of runs) {
    const steps = all.slice(0, MAX_STEPS)
    for (const [name, own] of Map.groupBy(steps, ({ key }) => stepNameOf(key))) {
      const node = seen.get(name) ?? { steps: [], runs: 0, failed: 0 }
      seen.set(name, node)
      node.steps.push(...own)
      node.runs++
      node.failed += own.some(({ status }) => status === 'failed') ? 1 : 0
    }
    for (const way of waysOf(steps)) {
      const [from = '', to = ''] = JSON.parse(way) as string[]
      const edge = edges.get(way) ?? { from, to, runs: 0 }
      edges.set(way, edge)
      edge.runs++
    }
  }
  const nodes = [...seen].map(([name, { steps, ...counts }]) => ({ ...describe(name, steps), ...counts }))
  return { nodes, edges: [...edges.values()] }
}

function describe(name: string, steps: readonly Step[]) {
  const [first] = steps
  const durations = steps.flatMap(({ startedAt, finishedAt }) => (finishedAt === null ? [] : [finishedAt - startedAt]))
  const { kind = 'run', effect = 'read' } = first ?? {}
  return { name, kind, effect, times: steps.length, p50Ms: findUsual(durations)?.p50Ms ?? null }
}

/** The ways from one name to the next in a run, each once. */
function waysOf(steps: readonly Step[]): Set<string> {
  const ways = new Set<string>()
  const ended = steps.filter(({ finishedAt }) => finishedAt !== null)
  for (const step of steps) {
    const before = ended.filter((each) => each !== step && isBefore(each, step))
    // A step that had ended when the newest of them began is not the last one.
    const newest = before.reduce((one, other) => (isNewer(other, one) ? other : one), before[0] ?? step)
    for (const each of before.filter((other) => !isBefore(other, newest))) {
      const [from, to] = [stepNameOf(each.key), stepNameOf(step.key)]
      if (from !== to) ways.add(JSON.stringify([from, to]))
    }
  }
  return ways
}

function isNewer(one: Step, other: Step): boolean {
  return one.startedAt > other.startedAt || (one.startedAt === other.startedAt && one.position > other.position)
}

/** Whether a step had ended when another one began. */
function isBefore(one: Step, other: Step): boolean {
  return one.finishedAt !== null && one.finishedAt <= other.startedAt && one.position < other.position
}
