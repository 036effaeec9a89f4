import type { CronTrigger } from '../runs/schedule.ts'

/** A difference between two sides of a run, in words that are equal for runs that differ alike. */
export interface Change {
  /** `+`: only the code that is tried does it. `-`: only the other side; `~`: both, otherwise. */
  sign: '+' | '-' | '~'
  class: ChangeClass
  operation: string
  /** A storage, or the target without its digits; null: none. */
  target: string | null
  from: string | null
  to: string | null
  /** Bytes of the files that it is about. */
  bytes: number
}

/** The subject of a change: effects, their order, what holds them, or the start or end of a run. */
type ChangeClass = 'write' | 'delete' | 'send' | 'invoke' | 'approve' | 'start' | 'order' | 'held' | 'end' | 'output'

/** A run as an example of a group. */
export interface Sample {
  /** Null for an event that has started none. */
  run: string | null
  /** The event that started it; null for another cause. */
  event: string | null
}

/** Runs that differ alike. */
export interface Group {
  /** Its changes as text: the same in every backtest. */
  key: string
  count: number
  /** Bytes of the files that more or fewer deletes are about. */
  bytes: number
  /** Each also as a line of text. */
  changes: (Omit<Change, 'bytes'> & { text: string })[]
  samples: Sample[]
}

/** The causes of a workflow's runs, and the limits that they pass before their code begins. */
export interface Starts {
  eventTypes: readonly string[]
  schedule: CronTrigger | null
  /** As text; null: not known. */
  limits: string | null
}

/** Runs about which nothing can be said, for one reason. */
interface Unknown {
  question: string
  count: number
  samples: Sample[]
}

export interface Differences {
  runs: number
  /** Runs that were previewed, and of which something can be said. */
  answered: number
  same: number
  groups: Group[]
  cannotSay: Unknown[]
  /** Runs of which two previews differ. */
  unsteady: Sample[]
  /** Calls outside of steps that were refused, with how many runs made them. */
  refused: { call: string; count: number }[]
  /** Runs whose event has lost its body. */
  noBody: number
  /** Runs that a limit or a cancel ended before their code began. */
  notStarted: number
}

/** Before the first run. */
export const NO_DIFFERENCES: Differences = {
  runs: 0,
  answered: 0,
  same: 0,
  noBody: 0,
  notStarted: 0,
  groups: [],
  cannotSay: [],
  unsteady: [],
  refused: [],
}

/** Runs that are named in a group. */
export const SAMPLES = 20
/** The key of the group of all differences, or questions, for which there was no place. */
const OTHERS = 'others'

/** Groups, and questions, after which all others are one, so that memory has a bound. */
const MAX_GROUPS = 1_000

/** The differences of all their runs. A group may be there more than once in the others. */
export function addDifferences(one: Differences, others: readonly Differences[]): Differences {
  const join = (old: readonly Sample[], fresh: readonly Sample[]) => [...old, ...fresh].slice(0, SAMPLES)
  const place = (key: string, known: ReadonlyMap<string, unknown>) =>
    known.has(key) || known.size < MAX_GROUPS ? key : OTHERS
  const groups = new Map(one.groups.map((group) => [group.key, group]))
  for (const { count, bytes, samples, ...group } of others.flatMap((each) => each.groups)) {
    const key = place(group.key, groups)
    const changes = key === OTHERS ? [] : group.changes
    const known = groups.get(key) ?? { key, changes, count: 0, bytes: 0, samples: [] }
    const sums = { count: known.count + count, bytes: known.bytes + bytes }
    groups.set(key, { ...known, ...sums, samples: join(known.samples, samples) })
  }
  const unknowns = new Map(one.cannotSay.map((unknown) => [unknown.question, unknown]))
  for (const { count, samples, ...unknown } of others.flatMap((each) => each.cannotSay)) {
    const question = place(unknown.question, unknowns)
    const known = unknowns.get(question) ?? { question, count: 0, samples: [] }
    unknowns.set(question, { ...known, count: known.count + count, samples: join(known.samples, samples) })
  }
  const calls = new Map(one.refused.map(({ call, count }) => [call, count]))
  for (const { call, count } of others.flatMap((each) => each.refused)) {
    if (calls.has(call) || calls.size < SAMPLES) calls.set(call, (calls.get(call) ?? 0) + count)
  }
  const sum = (name: 'runs' | 'answered' | 'same' | 'noBody' | 'notStarted') =>
    others.reduce((total, each) => total + each[name], one[name])
  return {
    runs: sum('runs'),
    answered: sum('answered'),
    same: sum('same'),
    noBody: sum('noBody'),
    notStarted: sum('notStarted'),
    groups: [...groups.values()].sort(byCount),
    cannotSay: [...unknowns.values()].sort(byCount),
    unsteady: others.reduce((all, { unsteady }) => join(all, unsteady), one.unsteady),
    refused: [...calls].map(([call, count]) => ({ call, count })),
  }
}

/** Largest first. */
function byCount(one: { count: number }, other: { count: number }): number {
  return other.count - one.count
}
