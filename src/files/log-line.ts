import type { StorageName } from '../core/service/storage.ts'
import type { AttemptRecord, Operation } from './errors.ts'

/** What the client tells whoever logs: ids, never names, keys or addresses. */
export type FilesLogLine =
  | {
      kind: 'call'
      operation: Operation
      service: StorageName
      /** Of the last reply. */
      status: number | null
      ms: number
      attempts: number
      /** `ok`, or the class of the error. */
      outcome: string
      id?: string
    }
  | ({ kind: 'attempt'; operation: Operation; service: StorageName } & AttemptRecord)
  /** A pause begins, before another attempt or for a place under the limit. */
  | { kind: 'wait'; operation: Operation; service: StorageName; until: number; reason: string }
  | { kind: 'warning'; message: string; service?: StorageName }
