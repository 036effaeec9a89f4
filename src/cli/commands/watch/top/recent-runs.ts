import { firstId } from '../../../../core/ids.ts'
import type { HourSlice } from '../../../../core/store/health/hours.ts'
import type { ReadStore } from '../../../../core/store/store.ts'

/** The runs of a workflow that were made within the window. */
export interface WorkflowLoad {
  workflow: string
  perMinute: number
  /** Share of the ended runs, from 0 to 1; null while none has ended. */
  failed: number | null
  atWork: number
  /** Milliseconds from start to end; null without any. */
  p50Ms: number | null
  p95Ms: number | null
}

export interface RecentLoad {
  /** Milliseconds that it covers. */
  windowMs: number
  /** The busiest first. */
  workflows: WorkflowLoad[]
  /** Runs made in each tenth of the window, oldest first. */
  chart: number[]
}

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
/** Widest first. A window with too many runs for a frame gives way to the next one. */
const WINDOWS_MS = [600_000, 120_000, 30_000, 10_000]
/** Runs that a frame reads in about 10 ms. */
const MAX_RUNS = 10_000
const CHART_BARS = 10

/** The newest runs by workflow, in a window that fits the load. */
export class RecentRuns {
  readonly #store: Pick<ReadStore, 'readHourRuns'>
  #window = 0

  constructor(store: Pick<ReadStore, 'readHourRuns'>) {
    this.#store = store
  }

  async look(now: number): Promise<RecentLoad> {
    for (;;) {
      const windowMs = WINDOWS_MS[this.#window] ?? 0
      const rows = await this.#read(now - windowMs, now)
      const isNarrowest = this.#window === WINDOWS_MS.length - 1
      if (rows.length >= MAX_RUNS && !isNarrowest) {
        this.#window += 1
        continue
      }
      // A wider window is tried again once it should fit.
      const wider = WINDOWS_MS[this.#window - 1]
      if (wider !== undefined && rows.length * (wider / windowMs) < MAX_RUNS / 2) this.#window -= 1
      return { windowMs, workflows: sumUp(rows, windowMs), chart: countTenths(rows, now, windowMs) }
    }
  }

  async #read(since: number, now: number): Promise<HourSlice['runs']> {
    const rows: HourSlice['runs'] = []
    let after: string | null = firstId('run', since)
    for (let hour = Math.floor(since / HOUR_MS); hour <= Math.floor(now / HOUR_MS); hour++) {
      for (;;) {
        const slice: HourSlice = await this.#store.readHourRuns(hour, after)
        rows.push(...slice.runs)
        after = slice.next
        if (after === null || rows.length >= MAX_RUNS) break
      }
    }
    return rows
  }
}

function sumUp(rows: HourSlice['runs'], windowMs: number): WorkflowLoad[] {
  const loads = [...Map.groupBy(rows, ({ workflow }) => workflow)].map(([workflow, runs]): WorkflowLoad => {
    const ended = runs.filter(({ ms }) => ms !== null)
    const sorted = ended.map(({ ms }) => ms ?? 0).sort((one, other) => one - other)
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null
    return {
      workflow,
      perMinute: (runs.length * MINUTE_MS) / windowMs,
      failed: ended.length === 0 ? null : runs.filter(({ status }) => status === 'failed').length / ended.length,
      atWork: runs.filter(({ status }) => status === 'running').length,
      p50Ms: at(0.5),
      p95Ms: at(0.95),
    }
  })
  return loads.sort((one, other) => other.perMinute - one.perMinute)
}

function countTenths(rows: HourSlice['runs'], now: number, windowMs: number): number[] {
  const bounds = Array.from({ length: CHART_BARS + 1 }, (_, index) =>
    firstId('run', now - ((CHART_BARS - index) * windowMs) / CHART_BARS),
  )
  return bounds.slice(1).map((end, index) => rows.filter(({ id }) => id >= (bounds[index] ?? '') && id < end).length)
}
