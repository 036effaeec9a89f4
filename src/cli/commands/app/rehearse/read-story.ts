import type { Rehearsal } from '../../../../app/rehearsal/rehearsal.ts'
import type { StagedFile } from '../../../../app/rehearsal/stage-files.ts'
import type { EventRecord } from '../../../../core/incoming/event.ts'
import type { Run } from '../../../../core/runs/run.ts'
import type { Checkpoint } from '../../../../core/runs/step.ts'
import type { EffectRecord } from '../../../../core/safety/effect.ts'
import type { OrderedFault } from './read-faults.ts'

/** Rows of a kind that a rehearsal shows. */
const MAX_ROWS = 1_000

/** The course of a rehearsal. */
export interface Story {
  event: EventRecord
  /** Oldest first, with those of events that came after. */
  runs: (Run & { steps: Checkpoint[]; eventType: string | null })[]
  /** Rows of the ledger, oldest first. */
  effects: EffectRecord[]
  staged: Rehearsal['staged']
  gone: StagedFile[]
  made: StagedFile[]
  /** Requests that the sandbox got, by operation. */
  requests: { operation: string; count: number; refused: number }[]
  /** Faults that were ordered, with how often each struck; `times`: null for always. */
  faults: { order: string; struck: number; times: number | null }[]
  /** Hosts that workflows asked for, and did not get. */
  refused: string[]
  /** Hosts that workflows might reach beside the sandbox. */
  hosts: readonly string[]
  /** False where it was given up with work under way. */
  isAtRest: boolean
  /** How far the clock was set forward, in milliseconds. */
  skippedMs: number
  /** Time of the app at the end, in epoch milliseconds. */
  now: number
}

export async function readStory(
  rehearsal: Rehearsal,
  {
    before,
    faults,
    ...about
  }: Pick<Story, 'event' | 'hosts' | 'isAtRest'> & {
    before: readonly StagedFile[]
    faults: readonly OrderedFault[]
  },
): Promise<Story> {
  const { store, sandbox, staged, refused, now } = rehearsal
  const after = rehearsal.listFiles()
  const runs = (await store.listRuns({ limit: MAX_ROWS })).toReversed()
  const withSteps = runs.map(async (run) => ({
    ...run,
    steps: await store.listSteps(run.id),
    eventType: run.eventId === null ? null : ((await store.findEvents(run.eventId))[0]?.type ?? null),
  }))
  const effects = (await store.listEffects({ limit: MAX_ROWS })).toReversed()
  return {
    ...{ ...about, staged, now, effects },
    runs: await Promise.all(withSteps),
    gone: without(before, after),
    made: without(after, before),
    requests: countRequests(sandbox.audit.requests()),
    // The sandbox lists them in the order in which they were added.
    faults: sandbox.faults.list().flatMap(({ struck, times }, index) => {
      const { text: order } = faults[index] ?? {}
      return order === undefined ? [] : [{ order, struck, times }]
    }),
    refused: [...refused],
    skippedMs: Math.max(0, now - Date.now()),
  }
}

/** The files of the first list that are not in the second one. */
function without(files: readonly StagedFile[], others: readonly StagedFile[]): StagedFile[] {
  const keyOf = ({ storage, id }: StagedFile) => `${storage}:${id}`
  const known = new Set(others.map(keyOf))
  return files.filter((file) => !known.has(keyOf(file)))
}

function countRequests(requests: readonly { operation: string; status: number }[]): Story['requests'] {
  const counts = new Map<string, Story['requests'][number]>()
  for (const { operation, status } of requests) {
    const found = counts.get(operation) ?? { operation, count: 0, refused: 0 }
    found.count += 1
    if (status >= 400) found.refused += 1
    counts.set(operation, found)
  }
  return [...counts.values()]
}
