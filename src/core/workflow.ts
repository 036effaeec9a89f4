import { z } from 'zod'
import { type Failure, UpshotError } from './errors.ts'
import { matchType, type ReceivedEvent } from './event.ts'
import type { FilesApi } from './file.ts'
import type { RetryOptions } from './retry.ts'
import type { Route } from './route.ts'
import type { CronTrigger, Tick } from './schedule.ts'
import type { Effect, StepName } from './step.ts'
import { type Duration, parseDuration } from './time.ts'

/** An event type together with what the author relies on in its `data`. */
export interface EventDefinition<Type extends string = string, Data = unknown, Sent = unknown> {
  kind: 'event'
  type: Type
  /** Takes what the service sends and gives what the author's code is handed. */
  data: z.ZodType<Data, Sent>
}

/**
 * Names an event type and states the shape of its `data`. The service documents none, so the author says once what the
 * workflow relies on; an event that does not fit parks its run where a person sees it.
 */
export function defineEvent<const Type extends string, Schema extends z.ZodType>(
  type: Type,
  { data }: { data: Schema },
): EventDefinition<Type, z.output<Schema>, z.input<Schema>> {
  return { kind: 'event', type, data: data as unknown as z.ZodType<z.output<Schema>, z.input<Schema>> }
}

type EventTrigger = string | EventDefinition
/** What starts a workflow: an event type (or `file.*`, `*`), an event definition, a list of them, or a cron line. */
export type Trigger = EventTrigger | readonly EventTrigger[] | CronTrigger

/** The event that an author's code gets for a trigger. */
export type EventOf<On> = On extends CronTrigger
  ? never
  : On extends EventDefinition<infer Type, infer Data>
    ? ReceivedEvent<Type, Data>
    : On extends readonly (infer Each)[]
      ? EventOf<Each>
      : On extends string
        ? ReceivedEvent<string extends On ? string : On extends `${string}*` ? string : On>
        : never

export interface StepOptions {
  retry?: RetryOptions
  /** Longest time for one attempt; default 5m, or the workflow's `timeout.step`. */
  timeout?: Duration
  /** Default `write`. */
  effect?: Effect
  /** What it acts on, for the ledger. */
  target?: string
}

/** What the function of a step is told. */
export interface StepContext {
  /** Counted from 1. */
  attempt: number
  /** The same in every attempt, also after a crash: hand it to an API that takes one, and the effect happens once. */
  idempotencyKey: string
  /** Aborts when the attempt times out, the run is canceled, or the process stops. */
  signal: AbortSignal
}

/** The durable verbs. A finished step never runs again: a replay gives back its result. */
export interface StepApi {
  /**
   * Runs `fn` once and keeps its result as JSON. After its last failed attempt it throws a `StepError`. In a loop, give
   * `[name, key]` instead of a name, so that each turn keeps its own result when the list changes.
   */
  run<T>(name: StepName, fn: (context: StepContext) => T | Promise<T>, options?: StepOptions): Promise<T>
  /** Frees the worker and goes on after `duration`, restarts or not. */
  sleep(name: StepName, duration: Duration): Promise<void>
  sleepUntil(name: StepName, moment: Date | number): Promise<void>
}

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
export type RunContext<On extends Trigger = Trigger> = BaseContext &
  (On extends CronTrigger ? { tick: Tick } : { event: EventOf<On> })

export interface WorkflowOptions<On extends Trigger, Output> {
  /** Unique; names the runs for ever. */
  id: string
  on: On
  /** Runs only for events where this is true. Pure; one that throws parks the run where a person sees it. */
  where?: (event: EventOf<On>) => boolean
  /** For each step, and for code outside steps. */
  retry?: RetryOptions
  timeout?: { step?: Duration }
  run: (context: RunContext<On>) => Promise<Output> | Output
  /**
   * Follows a run that failed for good, as a run of its own with the same tools and retries. One that fails itself is followed by none, and a
   * canceled run by none either.
   */
  onFailure?: (context: FailureContext<On>) => unknown
}

/** What `onFailure` gets: `run` is its own run, `failed` the one that it follows. */
export type FailureContext<On extends Trigger = Trigger> = RunContext<On> & {
  error: Failure
  failed: { id: string }
}

/** A workflow as the engine sees it. */
export interface Workflow<On extends Trigger = Trigger, Output = unknown> extends WorkflowOptions<On, Output> {
  kind: 'workflow'
}

/** Any workflow, whatever it runs on. */
export type AnyWorkflow = Pick<Workflow, 'kind' | 'id' | 'on' | 'retry' | 'timeout'> & {
  where?: (event: never) => boolean
  run: (context: never) => unknown
  onFailure?: (context: never) => unknown
}

/** A workflow as processes know it that have not loaded its module. */
export interface WorkflowRecord {
  id: string
  /** Name of the module. */
  file: string
  /** Event types that start it. */
  eventTypes: string[]
  schedule: CronTrigger | null
  loadedAt: number
  /** Null: not paused. */
  pausedAt: number | null
  /** Runs that wait because of the pause. */
  held: number
}

/** What was found in the workflows folder. */
export interface LoadedWorkflows {
  workflows: readonly Pick<WorkflowRecord, 'id' | 'file' | 'eventTypes' | 'schedule'>[]
  /** Modules that could not be loaded. */
  broken: readonly string[]
}

const duration = z.union([z.number(), z.string()]).transform((text, context) => {
  try {
    return parseDuration(text)
  } catch {
    context.addIssue('must be a duration such as "30s" or "5m"')
    return z.NEVER
  }
})
const eventTrigger = z.union([z.string().min(1), z.looseObject({ kind: z.literal('event') })])
const definition = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,79}$/, 'must be words of a-z and 0-9 joined by "-", 80 characters at most'),
  on: z.union([eventTrigger, z.array(eventTrigger).min(1), z.looseObject({ kind: z.literal('cron') })]),
  where: z.custom<(event: never) => boolean>((value) => typeof value === 'function').optional(),
  retry: z
    .strictObject({ attempts: z.int().min(1).optional(), min: duration.optional(), max: duration.optional() })
    .optional(),
  timeout: z.strictObject({ step: duration.optional() }).optional(),
  run: z.custom<(context: never) => unknown>((value) => typeof value === 'function', 'must be a function'),
  onFailure: z
    .custom<(context: never) => unknown>((value) => typeof value === 'function', 'must be a function')
    .optional(),
})

/** Checks a workflow and gives it back for the module's default export; throws `invalid_workflow`. */
export function defineWorkflow<const On extends Trigger, Output>(
  options: WorkflowOptions<On, Output>,
): Workflow<On, Output> {
  const checked = definition.safeParse(options)
  if (!checked.success) {
    const faults = checked.error.issues.map((issue) => `${issue.path.join('.') || 'definition'}: ${issue.message}`)
    throw new UpshotError('invalid_workflow', `Workflow "${options?.id}" is not well defined. ${faults.join('; ')}`)
  }
  return { kind: 'workflow', ...options }
}

/** The event definition that an event of `type` is read with; undefined where the author relies on no shape. */
export function findDefinition(on: Trigger, type: string): EventDefinition | undefined {
  return listTriggers(on).find(
    (trigger): trigger is EventDefinition => isDefinition(trigger) && matchType(trigger.type, type),
  )
}

/** The routes of a workflow; a cron workflow has none. */
export function planRoutes(workflow: AnyWorkflow): Route[] {
  return listTriggers(workflow.on).map((trigger) => ({
    eventType: isDefinition(trigger) ? trigger.type : trigger,
    workflow: workflow.id,
  }))
}

/** The cron line of a workflow, or null for one that runs on events. */
export function scheduleOf(workflow: AnyWorkflow): CronTrigger | null {
  const { on } = workflow
  return typeof on === 'object' && 'kind' in on && on.kind === 'cron' ? on : null
}

function listTriggers(on: Trigger): readonly EventTrigger[] {
  if (typeof on === 'string') return [on]
  if (!('kind' in on)) return on
  return on.kind === 'cron' ? [] : [on]
}

function isDefinition(trigger: EventTrigger): trigger is EventDefinition {
  return typeof trigger === 'object'
}
