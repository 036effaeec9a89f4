import type { Run, RunStatus } from '../../core/runs/run.ts'
import type { ReadStore } from '../../core/store/store.ts'
import type { Fit } from '../../engine/play/fit-recording.ts'
import { describeRefused } from './describe-refused.ts'
import type { Room, RoomFit } from './room.ts'

/** Runs that a deployment would not let go on, for one reason. */
export interface Misfit {
  workflow: string
  kind: Exclude<Fit['kind'], 'fits'>
  reason: string
  /** How many runs. */
  count: number
  /** Ids of the first of them. */
  runs: string[]
}

/** The outcome of a deployment for the unfinished runs. */
export interface DeploymentCheck {
  /** Unfinished runs with a journal. */
  checked: number
  fits: number
  misfits: Misfit[]
}

const UNFINISHED: readonly RunStatus[] = ['waiting', 'pending', 'running']
const PAGE = 200
/** Runs that are played at a time: one that diverges is known only after a moment of stillness. */
const PARALLEL = 64
/** Runs of a misfit that are named. */
const SAMPLES = 20

/**
 * Plays every unfinished run on its journal with the code of a room. Nothing is written.
 * `onChecked` hears how many runs were looked at.
 */
export async function checkDeployment(
  store: Pick<ReadStore, 'listRuns' | 'readRecordings'>,
  room: Pick<Room, 'fit'>,
  { workflow, now, onChecked = () => {} }: { workflow?: string; now: number; onChecked?: (count: number) => void },
): Promise<DeploymentCheck> {
  const groups = new Map<string, Misfit>()
  const found: DeploymentCheck = { checked: 0, fits: 0, misfits: [] }
  for (const status of UNFINISHED) {
    for await (const ids of listPages(store, { status, ...(workflow === undefined ? {} : { workflow }) })) {
      // A journal without a step fits any code.
      const recordings = (await store.readRecordings(ids)).filter(({ steps }) => steps.length > 0)
      await eachOf(recordings, PARALLEL, async (recording) => {
        const fit = await room.fit(recording, now)
        found.checked += 1
        onChecked(found.checked)
        if (fit.kind === 'fits') found.fits += 1
        else note(groups, recording.run, fit)
      })
    }
  }
  found.misfits = [...groups.values()].sort((a, b) => b.count - a.count || a.workflow.localeCompare(b.workflow))
  return found
}

async function* listPages(
  store: Pick<ReadStore, 'listRuns'>,
  filter: { status: RunStatus; workflow?: string },
): AsyncIterable<string[]> {
  for (let before: string | undefined; ; ) {
    const page: Run[] = await store.listRuns({ ...filter, limit: PAGE, ...(before === undefined ? {} : { before }) })
    if (page.length > 0) yield page.map(({ id }) => id)
    before = page.at(-1)?.id
    if (page.length < PAGE) return
  }
}

async function eachOf<T>(items: readonly T[], parallel: number, use: (item: T) => Promise<void>): Promise<void> {
  const rest = items[Symbol.iterator]()
  const lane = async () => {
    for (const item of rest) await use(item)
  }
  await Promise.all(Array.from({ length: Math.min(parallel, items.length) }, lane))
}

function note(groups: Map<string, Misfit>, { id, workflow }: Run, found: Exclude<RoomFit, { kind: 'fits' }>): void {
  const fit = explain(found)
  const key = JSON.stringify([workflow, fit.kind, fit.reason])
  const group = groups.get(key) ?? { workflow, ...fit, count: 0, runs: [] }
  groups.set(key, group)
  group.count += 1
  if (group.runs.length < SAMPLES) group.runs.push(id)
}

/** A refused call explains more than the fault that followed it. */
function explain({ undeclared, kind, reason }: Exclude<RoomFit, { kind: 'fits' }>): Pick<Misfit, 'kind' | 'reason'> {
  const [first] = undeclared
  if (first === undefined) return { kind, reason }
  return { kind: 'fails', reason: `${describeRefused(first)} is refused here` }
}
