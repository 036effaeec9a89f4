import type { Caller } from '../core/notices.ts'
import type { StorageName } from '../core/service/storage.ts'
import type { AttemptRecord, Operation } from './errors.ts'

/** One line for the client's `log`. It holds ids, never names, keys or addresses. */
export type FilesLogLine =
  /** A call has ended. */
  | {
      kind: 'call'
      operation: Operation
      service: StorageName
      /** HTTP status of the last reply; null when there was none. */
      status: number | null
      /** Milliseconds that the whole call took. */
      ms: number
      /** Requests that the call sent. */
      attempts: number
      /** The part of `ms` that its requests waited: for the limit, and between attempts. */
      waitedMs: number
      /** The requests in their order; left out for a single one without a wait. */
      tries?: readonly AttemptRecord[]
      /** `ok`, `left` for a stream that its caller stopped reading, or the error's name. */
      outcome: string
      /** The entry's id, where the call is about one entry. */
      id?: string
      /** The step that made the call. */
      caller?: Caller
    }
  /** A request has ended. */
  | ({ kind: 'attempt'; operation: Operation; service: StorageName } & AttemptRecord)
  /** A pause begins: before another attempt, or for a start under the limit. */
  | {
      kind: 'wait'
      operation: Operation
      service: StorageName
      /** Epoch milliseconds. */
      until: number
      /** `limit`, or the name of the error that the pause follows. */
      reason: string
    }
  /** The service or the caller does something unexpected that fails no call. */
  | { kind: 'warning'; message: string; service?: StorageName }
