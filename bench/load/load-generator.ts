import type { Slice } from '../deliveries.ts'

/** Each of `connections` sends its next delivery once the last one is answered. */
export interface Burst {
  url: string
  connections: number
  seconds: number
  /** Each record is sent at most once. */
  deliveries: Slice
}

export interface BurstResult {
  /** Answers with status 200. */
  answered: number
  perSecond: number
  p50Ms: number
  p99Ms: number
}

/** Sends deliveries from other processes. A burst rejects when an answer is not 200. */
export interface LoadGenerator extends AsyncDisposable {
  /** Program and number of threads or processes, for the report. */
  name: string
  send(burst: Burst): Promise<BurstResult>
}
