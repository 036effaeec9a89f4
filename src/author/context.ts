import type { z } from 'zod'
import type { Failure } from '../core/errors.ts'
import type { CronTrigger } from '../core/runs/schedule.ts'
import type { FilesApi } from '../core/service/files-api.ts'
import type { Tick } from './cron.ts'
import type { StepApi } from './step-api.ts'
import type { CallableTrigger, EventOf, Trigger } from './trigger.ts'

/** Writes to the log, with the run's id. Silent while finished steps are replayed. */
export interface RunLog {
  info(message: string, facts?: Record<string, unknown>): void
  warn(message: string, facts?: Record<string, unknown>): void
  error(message: string, facts?: Record<string, unknown>): void
}

interface BaseContext {
  run: { id: string; workflow: string }
  step: StepApi
  /** Each call is a step of the run. */
  files: FilesApi
  log: RunLog
  signal: AbortSignal
  /** Remembered: the same in a replay. Epoch milliseconds. */
  now(): number
  random(): number
  uuid(): string
}

/** What an author's function gets. */
export type RunContext<On extends Trigger = Trigger> = BaseContext & CauseOf<On>

/**
 * What the function of a workflow with `batch` gets: its events in the order in which they came.
 */
export type BatchContext<On extends Trigger> = BaseContext & { events: [EventOf<On>, ...EventOf<On>[]] }

/**
 * What the function of a workflow with `debounce` gets: the newest event, and how many earlier ones
 * were folded into it.
 */
export type DebounceContext<On extends Trigger> = BaseContext & { event: EventOf<On>; folded: number }

type CauseOf<On extends Trigger> = On extends CronTrigger
  ? { tick: Tick }
  : On extends CallableTrigger<infer Schema>
    ? { input: z.output<Schema> }
    : { event: EventOf<On> }

/** What keys are computed from: the event, tick or input that caused the run. */
export type CauseValue<On extends Trigger> = CauseOf<On>[keyof CauseOf<On>]

/** What `onFailure` gets: `run` is its own run, `failed` the one that it follows. */
export type FailureContext<On extends Trigger = Trigger> = AfterFailure<RunContext<On>>

/** The context of the run that failed, and how it failed. */
export type AfterFailure<Context> = Context & { error: Failure; failed: { id: string } }
