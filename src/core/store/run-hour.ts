import type { Verdict } from '../incoming/delivery.ts'
import type { RunStatus } from '../runs/run.ts'
import type { ReadStore } from './store.ts'

/** Runs that were made in one hour, by workflow and status. */
export interface RunHour {
  /** Hours since 1970. */
  hour: number
  workflow: string
  status: RunStatus
  runs: number
  /** Milliseconds from start to end; null where no run has both. */
  p50Ms: number | null
  p95Ms: number | null
}

/** Deliveries of one hour, by endpoint and verdict. */
export interface DeliveryHour {
  hour: number
  /** Null for requests that reached no endpoint. */
  endpointId: string | null
  verdict: Verdict
  deliveries: number
}

/** An hour that is over and has to be counted, or counted again. */
export interface DueHour {
  hour: number
  /** Another one with each change of a run there; 0 where it is counted for the first time. */
  version: number
  /** The last hour that was counted in its turn; null before the first. */
  counted: number | null
}

export interface CountedHour {
  runs: RunHour[]
  deliveries: DeliveryHour[]
}

/** The runs of a slice of an hour, and where counting goes on; null at its end. */
export interface HourCount {
  runs: { workflow: string; status: RunStatus; runs: number }[]
  next: string | null
}

export const HOUR_MS = 3_600_000
/** Rows of one read: a few milliseconds of the thread that reads. */
const ROWS = 20_000

/** Runs by the hour, up to the present one. Those that are not counted yet are counted here. */
export async function listHoursNow(
  store: Pick<ReadStore, 'findDueHour' | 'listRunHours' | 'countHourRuns'>,
  since: number,
  now: number,
): Promise<RunHour[]> {
  const present = Math.floor(now / HOUR_MS)
  const due = Math.max(Math.floor(since / HOUR_MS), (await store.findDueHour(now))?.hour ?? present)
  const hours = (await store.listRunHours({ since })).filter(({ hour }) => hour < due)
  for (let hour = due; hour <= present; hour++) hours.push(...(await countHour(store, hour)))
  return hours
}

async function countHour(store: Pick<ReadStore, 'countHourRuns'>, hour: number): Promise<RunHour[]> {
  const found = new Map<string, RunHour>()
  for (let after: string | null = null; ; ) {
    const { runs: groups, next }: HourCount = await store.countHourRuns(hour, { rows: ROWS, after })
    for (const { workflow, status, runs } of groups) {
      const key = `${workflow}\0${status}`
      const known = found.get(key) ?? { hour, workflow, status, runs: 0, p50Ms: null, p95Ms: null }
      found.set(key, { ...known, runs: known.runs + runs })
    }
    if (next === null) return [...found.values()]
    after = next
  }
}
