import type { HourCount, HourReads, RunHour } from './hours.ts'

export const HOUR_MS = 3_600_000
/** Rows of one read: a few milliseconds of the thread that reads. */
const ROWS = 20_000

/** Runs by the hour, up to the present one. Those that are not counted yet are counted here. */
export async function listHoursNow(
  store: Pick<HourReads, 'findDueHour' | 'listRunHours' | 'countHourRuns'>,
  since: number,
  now: number,
): Promise<RunHour[]> {
  const present = Math.floor(now / HOUR_MS)
  const due = Math.max(Math.floor(since / HOUR_MS), (await store.findDueHour(now))?.hour ?? present)
  const hours = (await store.listRunHours({ since })).filter(({ hour }) => hour < due)
  for (let hour = due; hour <= present; hour++) hours.push(...(await countHour(store, hour)))
  return hours
}

async function countHour(store: Pick<HourReads, 'countHourRuns'>, hour: number): Promise<RunHour[]> {
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
