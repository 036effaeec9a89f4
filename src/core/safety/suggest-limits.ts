import type { EffectRecord } from './effect.ts'
import type { Guard, Window } from './guard.ts'

/** The deletes of a workflow, and limits with room for twice as many. */
interface Suggestion {
  workflow: string
  deletes: number
  perRun: number
  perHour: number
  perDay: number
}

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/** Twice the 99th percentile of each workflow's deletes in a run, an hour and a day. */
export function suggestLimits(begun: Iterable<Pick<EffectRecord, 'at' | 'workflow' | 'runId'>>): Suggestion[] {
  const workflows = new Map<string, Counts>()
  for (const { at, workflow, runId } of begun) {
    if (workflow === null || runId === null) continue
    const counts = workflows.get(workflow) ?? { total: 0, runs: new Map(), hours: new Map(), days: new Map() }
    workflows.set(workflow, counts)
    counts.total += 1
    count(counts.runs, runId)
    count(counts.hours, Math.floor(at / HOUR_MS))
    count(counts.days, Math.floor(at / DAY_MS))
  }
  return [...workflows].sort().map(([workflow, { total, runs, hours, days }]) => ({
    workflow,
    deletes: total,
    perRun: 2 * percentile(runs),
    perHour: 2 * percentile(hours),
    perDay: 2 * percentile(days),
  }))
}

interface Counts {
  total: number
  runs: Map<string, number>
  hours: Map<number, number>
  days: Map<number, number>
}

function count<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

/** The 99th percentile of the counts, by the nearest rank. */
function percentile(counts: ReadonlyMap<unknown, number>): number {
  const sorted = [...counts.values()].sort((one, other) => one - other)
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0
}

/**
 * The limit of the project on a counter; null without one. A workflow may have limits of its own.
 */
export function findUseLimit(
  guard: Guard | null,
  { scope, class: kind, window }: { scope: string; class: 'delete' | 'write' | 'approved'; window: Window },
): number | null {
  if (guard === null || kind === 'approved') return null
  const [noun = 'all'] = scope.split('/')
  const limits = noun in guard ? guard[noun as keyof Guard] : undefined
  const counts = kind === 'delete' ? limits?.deletes : limits?.writes
  return (window === 'hour' ? counts?.perHour : counts?.perDay) ?? null
}
