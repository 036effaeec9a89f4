import { type Differences, OTHERS, SAMPLES, type Sample } from './difference.ts'

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
    ...{ runs: sum('runs'), answered: sum('answered'), same: sum('same') },
    ...{ noBody: sum('noBody'), notStarted: sum('notStarted') },
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
