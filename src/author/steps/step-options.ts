import type { z } from 'zod'
import type { SchemePreset, SignatureScheme } from '../../core/incoming/signature.ts'
import type { JsonValue } from '../../core/json.ts'
import type { FileEntry } from '../../core/service/file.ts'
import type { Duration } from '../../core/time.ts'
import type { ScheduleOptions } from '../cron.ts'
import type { InputOf, Invocable, Trigger } from '../trigger.ts'

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

/** Options of `step.hook`. */
export interface HookOptions<Schema extends z.ZodType = z.ZodType, Many extends boolean = boolean> {
  /** Time in which answers are taken, from the step's start on. */
  expires: Duration
  /**
   * Schema of an answer. One that does not fit is refused with 422, and the run waits on. The
   * receiver checks it by its JSON Schema. Default: any JSON.
   */
  data?: Schema
  /**
   * How the sender signs. An answer with another signature is refused with 401. Default: the URL
   * alone proves who answers.
   */
  sign?: {
    /** The name of a preset, or the scheme in parts. */
    scheme: SchemePreset | Partial<SignatureScheme>
    /** The sender's secret, as text. */
    secret: string
  }
  /**
   * The question for people who open the URL in a browser, 1 to 500 characters. Default: a page
   * without a form.
   */
  ask?: string
  /** True: it takes any number of answers, for `step.receive`. Default: one, for `step.waitFor`. */
  many?: Many
}

/** A callback URL that this run waits at. Made by `step.hook`. */
export interface Hook<Data = unknown, Many extends boolean = boolean> {
  /** Tells hooks from other things to wait for. */
  kind: 'hook'
  /** Id of the hook, `hok_…`; no secret. */
  id: string
  /** The address for `POST`. Everybody who knows it may answer. */
  url: string
  /** When it takes answers no longer, in epoch milliseconds. */
  expiresAt: number
  /** True: it takes any number of answers, for `step.receive`. */
  many: Many
  /** Never set: carries the type of an answer. */
  carries?: Data
}

/** An answer of a hook. */
export interface HookAnswer<Data = unknown> {
  /** The answer, parsed by the schema of the hook. */
  data: Data
  /** When it came, in epoch milliseconds. */
  receivedAt: number
  /** Id of the delivery, `dlv_…`; null where a person answered with `upshot runs answer`. */
  delivery: string | null
  /** Name of that person; null for an answer to the URL. */
  by: string | null
}

/** Options of `step.send`. */
export interface SendOptions {
  /**
   * Sends the event at this moment, a date or epoch milliseconds, and at once where it has passed.
   * It is in the list of `upshot schedules` before, which can remove it. Default: at once.
   */
  at?: Date | number
}

/** A schedule that `step.schedule` makes. */
export type ScheduleRequest<On extends Trigger = Trigger> = Omit<ScheduleOptions, 'accounts' | 'account'> & {
  /** The workflow that it starts, with `on: callable(…)`. */
  workflow: Invocable<On>
  /** The input of each of its runs; it has to fit the schema. */
  input?: InputOf<On>
  /** A cron line; see `cron`. Either this or `at`. */
  cron?: string
  /** The one moment: a date or epoch milliseconds. One that has passed is due at once. */
  at?: Date | number
  /** The accounts that its runs act for. Default: the account of this run. */
  account?: string | readonly string[]
  /** `each`: a run for every account that exists at the moment. */
  accounts?: 'each'
}
