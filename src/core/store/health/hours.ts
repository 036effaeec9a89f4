import type { Verdict } from '../../incoming/delivery.ts'
import type { RunStatus } from '../../runs/run.ts'

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
  /** Rises with each change of a run of that hour. */
  version: number
}

export interface CountedHour {
  runs: RunHour[]
  deliveries: DeliveryHour[]
}

/**
 * Where counting an hour goes on, and what a slice found. Durations are kept for the percentiles.
 */
export interface HourSlice {
  runs: { id: string; workflow: string; status: RunStatus; ms: number | null }[]
  next: string | null
}

/** The runs of a slice of an hour, and where counting goes on; null at its end. */
export interface HourCount {
  runs: { workflow: string; status: RunStatus; runs: number }[]
  next: string | null
}

/** How many of something there are; `isMore` where counting stopped at the bound. */
export interface BoundedCount {
  count: number
  isMore: boolean
}

/** Live counts, each of a partial index. They stop at 100,000. */
export interface RunCounts {
  failed: BoundedCount
  forPerson: BoundedCount
  pending: BoundedCount
  running: BoundedCount
  /** When the oldest pending run was made, in epoch milliseconds. */
  oldestPendingAt: number | null
}

export interface HourWrites {
  /** Saves the counts of an hour. A mark that rose meanwhile stays, so it is counted again. */
  saveHour(due: DueHour, counted: CountedHour): Promise<void>
}

export interface HourReads {
  /** The oldest hour before `now` that is not counted, or marked; null: none. */
  findDueHour(now: number): Promise<DueHour | null>
  /** Up to 5,000 runs that were made in an hour, behind `after`. */
  readHourRuns(hour: number, after: string | null): Promise<HourSlice>
  /** Counts runs that were made in an hour: `rows` of them at most, behind `after`. */
  countHourRuns(hour: number, slice: { rows: number; after: string | null }): Promise<HourCount>
  /** Deliveries of an hour; reads all rows of it. */
  readHourDeliveries(hour: number): Promise<DeliveryHour[]>
  /** Counted hours from `since` on, oldest first. */
  listRunHours(query: { since: number; workflow?: string }): Promise<RunHour[]>
  listDeliveryHours(since: number): Promise<DeliveryHour[]>
  /** `since`: bounds the failed runs, in epoch milliseconds. */
  countRuns(since: number): Promise<RunCounts>
}
