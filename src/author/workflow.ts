import { z } from 'zod'
import { type Failure, UpshotError } from '../core/errors.ts'
import { matchType, type ReceivedEvent } from '../core/incoming/event.ts'
import type { Route } from '../core/incoming/route.ts'
import {
  type AnyFlow,
  type BatchOptions,
  type DebounceOptions,
  duration,
  type FlowOptions,
  flowOptions,
  planFirstPriority,
  refuseContradictions,
  type TimeoutOptions,
} from '../core/runs/admission.ts'
import type { RetryOptions } from '../core/runs/retry.ts'
import type { CronTrigger, Tick } from '../core/runs/schedule.ts'
import type { StepApi } from '../core/runs/step.ts'
import { type CallableTrigger, cancelRules, declaredKeys, eventTrigger, type KeyValue } from '../core/runs/wait.ts'
import type { FilesApi } from '../core/service/file.ts'

/** An event type together with what the author relies on in its `data`. */
export interface EventDefinition<
  Type extends string = string,
  Data = unknown,
  Sent = unknown,
  Keys extends object = object,
> {
  kind: 'event'
  type: Type
  /** Takes what the service sends and gives what the author's code is handed. */
  data: z.ZodType<Data, Sent>
  /** Compute what waits and cancels match on. */
  keys: Record<string, (data: never) => KeyValue>
  /** Never there: carries the values of the keys for the types of `step`. */
  carries?: Keys
}

/**
 * Names an event type and states the shape of its `data`. The service documents none, so the author says once what the
 * workflow relies on; an event that does not fit parks its run where a person sees it.
 *
 * `keys` are what `step.waitFor` and `cancelOn` can match on: pure functions of the data, kept as an index. An event whose
 * data does not fit, or where the function throws, is not found by its key. To be called when the module is loaded, not within a run.
 */
export function defineEvent<
  const Type extends string,
  Schema extends z.ZodType,
  Values extends Record<string, KeyValue> = Record<never, never>,
>(
  type: Type,
  { data, keys }: { data: Schema; keys?: { [Name in keyof Values]: (data: z.output<Schema>) => Values[Name] } },
): EventDefinition<Type, z.output<Schema>, z.input<Schema>, { [Name in keyof Values]: NonNullable<Values[Name]> }> {
  const schema = data as unknown as z.ZodType<z.output<Schema>, z.input<Schema>>
  const definition = { kind: 'event', type, data: schema, keys: { ...keys } as EventDefinition['keys'] } as const
  declaredKeys.declare(definition)
  return definition
}

type EventTrigger = string | EventDefinition
type EventTriggers = EventTrigger | readonly EventTrigger[]
/**
 * What starts a workflow: an event type (or `file.*`, `*`), an event definition, a list of them, a cron line, or another
 * workflow (`callable`).
 */
export type Trigger = EventTriggers | CronTrigger | CallableTrigger

/** The event that an author's code gets for a trigger. */
export type EventOf<On> = On extends CronTrigger | CallableTrigger
  ? never
  : On extends EventDefinition<infer Type, infer Data>
    ? ReceivedEvent<Type, Data>
    : On extends readonly (infer Each)[]
      ? EventOf<Each>
      : On extends string
        ? ReceivedEvent<string extends On ? string : On extends `${string}*` ? string : On>
        : never

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

/** What the function of a workflow with `batch` gets: its events in the order in which they came. */
export type BatchContext<On extends Trigger> = BaseContext & { events: [EventOf<On>, ...EventOf<On>[]] }

/** What the function of a workflow with `debounce` gets: the newest event, and how many earlier ones were folded into it. */
export type DebounceContext<On extends Trigger> = BaseContext & { event: EventOf<On>; folded: number }

type CauseOf<On extends Trigger> = On extends CronTrigger
  ? { tick: Tick }
  : On extends CallableTrigger<infer Schema>
    ? { input: z.output<Schema> }
    : { event: EventOf<On> }

/** What keys are computed from: the event, tick or input that caused the run. */
type CauseValue<On extends Trigger> = CauseOf<On>[keyof CauseOf<On>]

/** Ends the unfinished runs of a workflow when an event says so. */
export interface CancelRule<On extends Trigger = Trigger> {
  /** Counts when it is stored after the run was made. */
  on: EventTrigger
  /**
   * For each key of `on` the value it must have, computed from what caused the run: its event, tick or input. One that gives
   * null leaves the run alone; one that throws parks it for a person.
   */
  where?: Record<string, (cause: CauseValue<On>) => KeyValue>
}

interface CommonOptions<On extends Trigger> extends FlowOptions<CauseValue<On>> {
  /** Unique; names the runs for ever. */
  id: string
  on: On
  /** Runs only for events where this is true. Pure; one that throws parks the run where a person sees it. */
  where?: (event: EventOf<On>) => boolean
  /** For each step, and for code outside steps. */
  retry?: RetryOptions
  timeout?: TimeoutOptions
}

export interface WorkflowOptions<On extends Trigger, Output> extends CommonOptions<On> {
  batch?: undefined
  debounce?: undefined
  /** Any of these events ends a run that is not finished, at once. One that has not started is ended when it would. */
  cancelOn?: CancelRule<On> | readonly CancelRule<On>[]
  run: (context: RunContext<On>) => Promise<Output> | Output
  /**
   * Follows a run that failed for good, as a run of its own with the same tools and retries. One that fails itself is followed by none, and a
   * canceled run by none either.
   */
  onFailure?: (context: FailureContext<On>) => unknown
}

/** What `onFailure` gets: `run` is its own run, `failed` the one that it follows. */
export type FailureContext<On extends Trigger = Trigger> = AfterFailure<RunContext<On>>

/** The context of the run that failed, and how it failed. */
type AfterFailure<Context> = Context & { error: Failure; failed: { id: string } }

export interface BatchWorkflowOptions<On extends EventTriggers, Output> extends CommonOptions<On> {
  batch: BatchOptions<EventOf<On>>
  debounce?: undefined
  run: (context: BatchContext<On>) => Promise<Output> | Output
  /** As of any other workflow; it gets the events of the run that failed. */
  onFailure?: (context: AfterFailure<BatchContext<On>>) => unknown
}

export interface DebounceWorkflowOptions<On extends EventTriggers, Output> extends CommonOptions<On> {
  debounce: DebounceOptions<EventOf<On>>
  batch?: undefined
  cancelOn?: CancelRule<On> | readonly CancelRule<On>[]
  run: (context: DebounceContext<On>) => Promise<Output> | Output
  onFailure?: (context: AfterFailure<DebounceContext<On>>) => unknown
}

/** Any rule, whatever the workflow runs on. */
export interface AnyCancelRule {
  on: EventTrigger
  where?: Record<string, (cause: never) => KeyValue>
}

/** A workflow as far as `step.invoke` looks at it. */
export type Invocable<On extends Trigger = Trigger, Output = unknown> = {
  kind: 'workflow'
  id: string
  on: On
  run: (context: never) => Output
}

/** A workflow as its module gives it to the engine, which knows what its function is to be given. */
export interface Workflow<On extends Trigger = Trigger, Output = unknown> extends CommonOptions<On> {
  kind: 'workflow'
  batch?: BatchOptions<EventOf<On>> | undefined
  debounce?: DebounceOptions<EventOf<On>> | undefined
  cancelOn?: CancelRule<On> | readonly CancelRule<On>[]
  run: (context: never) => Promise<Output> | Output
  onFailure?: (context: never) => unknown
}

/** Any workflow, whatever it runs on. */
export interface AnyWorkflow extends Pick<Workflow, 'kind' | 'id' | 'on' | 'retry' | 'timeout'>, AnyFlow {
  where?: (event: never) => boolean
  cancelOn?: AnyCancelRule | readonly AnyCancelRule[]
  run: (context: never) => unknown
  onFailure?: (context: never) => unknown
  /** Hash of the module and of the project's files that it imports; set by the loader. */
  codeHash?: string
}

const definition = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,79}$/, 'must be words of a-z and 0-9 joined by "-", 80 characters at most'),
  on: z.union([eventTrigger, z.array(eventTrigger).min(1), z.looseObject({ kind: z.enum(['cron', 'callable']) })]),
  where: z.custom<(event: never) => boolean>((value) => typeof value === 'function').optional(),
  retry: z
    .strictObject({ attempts: z.int().min(1).optional(), min: duration.optional(), max: duration.optional() })
    .optional(),
  ...flowOptions,
  cancelOn: cancelRules,
  run: z.custom<(context: never) => unknown>((value) => typeof value === 'function', 'must be a function'),
  onFailure: z
    .custom<(context: never) => unknown>((value) => typeof value === 'function', 'must be a function')
    .optional(),
})

/** Checks a workflow and gives it back for the module's default export; throws `invalid_workflow`. */
export function defineWorkflow<const On extends EventTriggers, Output>(
  options: BatchWorkflowOptions<On, Output>,
): Workflow<On, Output>
export function defineWorkflow<const On extends EventTriggers, Output>(
  options: DebounceWorkflowOptions<On, Output>,
): Workflow<On, Output>
export function defineWorkflow<const On extends Trigger, Output>(
  options: WorkflowOptions<On, Output>,
): Workflow<On, Output>
export function defineWorkflow<On extends Trigger, Output>(
  options: Omit<Workflow<On, Output>, 'kind'>,
): Workflow<On, Output> {
  const checked = definition.superRefine(refuseContradictions).safeParse(options)
  if (!checked.success) {
    const faults = checked.error.issues.map((issue) => `${issue.path.join('.') || 'definition'}: ${issue.message}`)
    throw new UpshotError('invalid_workflow', `Workflow "${options?.id}" is not well defined. ${faults.join('; ')}`)
  }
  return { ...options, kind: 'workflow' }
}

/** The event definition that an event of `type` is read with; undefined where the author relies on no shape. */
export function findDefinition(on: Trigger, type: string): EventDefinition | undefined {
  return listTriggers(on).find(
    (trigger): trigger is EventDefinition => isDefinition(trigger) && matchType(trigger.type, type),
  )
}

/** The routes of a workflow; one that runs on a cron line, or is invoked, has none. */
export function planRoutes(workflow: AnyWorkflow): Route[] {
  const priority = planFirstPriority(workflow)
  return listTriggers(workflow.on).map((trigger) => ({
    eventType: isDefinition(trigger) ? trigger.type : trigger,
    workflow: workflow.id,
    ...(priority === 0 ? {} : { priority }),
  }))
}

/** The cron line of a workflow, or null for one that runs on events. */
export function scheduleOf(workflow: AnyWorkflow): CronTrigger | null {
  const { on } = workflow
  return typeof on === 'object' && 'kind' in on && on.kind === 'cron' ? on : null
}

/** The shape of a callable workflow's input; null for any other. */
export function inputOf({ on }: AnyWorkflow): z.ZodType | null {
  return typeof on === 'object' && 'kind' in on && on.kind === 'callable' ? on.input : null
}

/** What starts a workflow, in words. */
export function describeTrigger(workflow: AnyWorkflow): string {
  if (inputOf(workflow)) return 'being invoked'
  const schedule = scheduleOf(workflow)
  if (schedule) return `cron ${schedule.expression} (${schedule.timezone})`
  return planRoutes(workflow)
    .map((route) => route.eventType)
    .join(', ')
}

/** What ends the runs of a workflow, as a list. */
export function listCancelRules({ cancelOn }: AnyWorkflow): readonly AnyCancelRule[] {
  if (cancelOn === undefined) return []
  return 'on' in cancelOn ? [cancelOn] : cancelOn
}

function listTriggers(on: Trigger): readonly EventTrigger[] {
  if (typeof on === 'string') return [on]
  if (!('kind' in on)) return on
  return on.kind === 'event' ? [on] : []
}

function isDefinition(trigger: EventTrigger): trigger is EventDefinition {
  return typeof trigger === 'object'
}
