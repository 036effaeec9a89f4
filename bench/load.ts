import type { Slice } from './deliveries.ts'

/**
 * One burst of deliveries: `connections` at once, each sends its next one when it has its answer.
 */
export interface Burst {
  url: string
  connections: number
  seconds: number
  /** Each record is sent once at most. */
  deliveries: Slice
}

export interface BurstResult {
  /** Answers with status 200. */
  answered: number
  perSecond: number
  p50Ms: number
  p99Ms: number
}

/** Sends deliveries from processes of its own. A burst rejects when any answer was not 200. */
export interface LoadGenerator extends AsyncDisposable {
  /** For the report: what it is and how many threads or processes of it run. */
  name: string
  send(burst: Burst): Promise<BurstResult>
}
