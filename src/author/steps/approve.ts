import type { z } from 'zod'
import type { JsonValue } from '../../core/json.ts'
import type { FileEntry } from '../../core/service/file.ts'
import type { Duration } from '../../core/time.ts'

/** A question of `step.approve`. */
export interface ApproveOptions<Schema extends z.ZodType = z.ZodType> {
  /** The question in one line, 1 to 500 characters. */
  ask: string
  /**
   * The evidence for the person who decides: JSON, at most 1 MiB. It is stored and printed, so it
   * must hold no secret. Default: none.
   */
  show?: JsonValue
  /**
   * Files that the yes is for. The run may delete each of them as it is here, and the guard does
   * not ask again. Default: none.
   */
  deletes?: readonly FileEntry[]
  /**
   * Schema of an answer that comes with the yes. The command line checks it, and the verdict has it
   * parsed. Default: no answer.
   */
  answer?: Schema
  /** Role that each person must have; see `upshot approvers add`. Default: any. */
  by?: string
  /** Different people who have to agree, 1 or more. Default: `approvals.needs` of the project. */
  needs?: number
  /**
   * Longest wait. Then the verdict is `expired`, never a yes. Default: `approvals.expire` of the
   * project, 7 days.
   */
  timeout?: Duration
}

/** The word of the people who were asked. */
export type ApproveVerdict<Answer = null> =
  | {
      approved: true
      /** Id of the approval, `apr_…`. */
      approval: string
      /** Names of the people who agreed, in the order of their words. */
      by: string[]
      /** When they had agreed, in epoch milliseconds. */
      at: number
      /** Reason of the last word; null for none. */
      reason: string | null
      /** The answer, parsed by its schema; null where none was asked for. */
      answer: Answer
    }
  | {
      approved: false
      /** Id of the approval, `apr_…`. */
      approval: string
      /** `expired`: nobody decided in time. */
      why: 'denied' | 'expired'
      /** The person who said no; nobody for `expired`. */
      by: string[]
      /** When it ended, in epoch milliseconds. */
      at: number
      /** Reason of the no; null for none. */
      reason: string | null
    }
