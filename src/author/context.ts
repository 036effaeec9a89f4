import type { z } from 'zod'
import type { Failure } from '../core/errors.ts'
import type { TagValue } from '../core/runs/annotations/tags.ts'
import type { CronTrigger } from '../core/runs/schedule.ts'
import type { FilesApi } from '../core/service/files-api.ts'
import type { Tick } from './cron.ts'
import type { StepApi } from './steps/step-api.ts'
import type { CallableTrigger, EventOf, Trigger } from './trigger.ts'

/**
 * Writes to the app's log, with the run's id. Silent while a replay repeats finished steps, so that
 * each line appears once.
 *
 * `facts` become fields of the line; secrets in them are hidden.
 */
export interface RunLog {
  /** Writes a line of level `info`. */
  info(message: string, facts?: Record<string, unknown>): void
  /** Writes a line of level `warn`. */
  warn(message: string, facts?: Record<string, unknown>): void
  /** Writes a line of level `error`. */
  error(message: string, facts?: Record<string, unknown>): void
}

/** Tools that the function of every workflow gets. */
interface BaseContext<On extends Trigger> {
  /** The run's id (`run_…`) and the id of its workflow. */
  run: { id: string; workflow: string }
  /** The account that the run acts for: that of its event, tick or parent. */
  account: string
  /** The durable verbs: what they finish is never done again. */
  step: StepApi<On>
  /** The Files API of the run's account; each call is a step. */
  files: FilesApi
  /** The app's log. */
  log: RunLog
  /**
   * Gives the run a tag, by which people find it; a tag of that name gets the new value. It is
   * written with the next step.
   *
   * At most 10 with those of the workflow's `tags`. Throws `invalid_workflow` for one too many, and
   * for a name or value that is empty or longer than 64 characters.
   */
  tag(name: string, value: TagValue): void
  /**
   * Says how far the run has come: `progress(3, 10, 'files compared')`. No step: the newest value
   * is shown within a second, and a replay turns nothing back. `total`: 0 where there is nothing to
   * do.
   *
   * `step.map` and `files.deleteAll` tell by themselves what they have done, until your code says
   * more. Throws `invalid_workflow` for numbers below 0 and no numbers.
   */
  progress(done: number, total: number, note?: string): void
  /** Aborts when the run is canceled, its `timeout.run` is over, or the process stops. */
  signal: AbortSignal
  /**
   * The run's own time, the same in every replay: the end of its newest step, or its start. Inside
   * a step: when its attempt began. Epoch milliseconds.
   */
  now(): number
  /**
   * A number from 0 up to, but not including, 1; the same in every replay. Inside a step, it
   * belongs to the step and its attempt.
   */
  random(): number
  /** A random UUID, the same in every replay. */
  uuid(): string
}

/**
 * The argument of a workflow's `run`, with the cause of the run: `event`, `tick` (cron) or `input`
 * (callable). A callable one gets the `tick` of a schedule, too; null where none started it.
 */
export type RunContext<On extends Trigger = Trigger> = BaseContext<On> & CauseOf<On> & MomentOf<On>

type MomentOf<On extends Trigger> = On extends CallableTrigger ? { tick: Tick | null } : unknown

/**
 * The argument of `run` in a workflow with `batch`: `events`, at least one, in the order of
 * arrival.
 */
export type BatchContext<On extends Trigger> = BaseContext<On> & { events: [EventOf<On>, ...EventOf<On>[]] }

/**
 * The argument of `run` in a workflow with `debounce`: the newest `event`, and `folded`, the number
 * of earlier ones.
 */
export type DebounceContext<On extends Trigger> = BaseContext<On> & { event: EventOf<On>; folded: number }

type CauseOf<On extends Trigger> = On extends CronTrigger
  ? { tick: Tick }
  : On extends CallableTrigger<infer Schema>
    ? { input: z.output<Schema> }
    : { event: EventOf<On> }

/** The argument of keys and rules: the event, tick or input that started the run. */
export type CauseValue<On extends Trigger> = CauseOf<On>[keyof CauseOf<On>]

/**
 * The argument of `onFailure`: everything that `run` got, with `error` and `failed`. `run.id` is
 * the id of this run, `failed.id` that of the failed one.
 */
export type FailureContext<On extends Trigger = Trigger> = AfterFailure<RunContext<On>>

/** A context with the failed run's id and its error. */
export type AfterFailure<Context> = Context & { error: Failure; failed: { id: string } }
