import type { z } from 'zod'
import type { JsonValue } from '../../core/json.ts'
import type { RetryOptions } from '../../core/runs/retry.ts'
import type { Effect, StepName } from '../../core/runs/step.ts'
import type { Duration } from '../../core/time.ts'
import type { EventDefinition } from '../define-event.ts'
import type { Jsonify, KeptAsJson } from '../jsonify.ts'
import type {
  AwaitedEvent,
  CallableTrigger,
  EventTrigger,
  InputOf,
  Invocable,
  InvokeOptions,
  Trigger,
} from '../trigger.ts'
import type {
  ApproveOptions,
  ApproveVerdict,
  Hook,
  HookAnswer,
  HookOptions,
  ScheduleRequest,
  SendOptions,
} from './step-options.ts'

/** Options of `step.run` and `step.map`. */
export interface StepOptions {
  /** Retries of this step. Default: the workflow's `retry`. */
  retry?: RetryOptions
  /**
   * Longest time for one attempt, which then fails with `step_timeout`. Default: the workflow's
   * `timeout.step`, else 5m.
   */
  timeout?: Duration
  /** The effect of the step: `read`, `write` or `delete`. Default `write`. */
  effect?: Effect
  /**
   * The target of the effect, such as a URL or a file id. `upshot runs show` prints it. Default:
   * none.
   */
  target?: string
  /**
   * The content of the effect as JSON, such as the body of a request. The effect ledger keeps it,
   * and an approval shows it. Default: none.
   */
  input?: JsonValue
}

/** Options of a step that can run at most once. */
export interface OnceStepOptions extends StepOptions {
  /**
   * True: at most once. Its start is on disk before `fn` begins, and no failure or timeout is
   * retried. No person's retry of the run begins it again either. Default false.
   *
   * After a crash during the step, it throws `Interrupted` instead of running again.
   */
  once?: boolean
}

/** Called in a plan or backtest instead of `fn`: the result of doing nothing. Never by a run. */
type Dry<T, Given extends unknown[] = []> = (...given: Given) => NoInfer<T> | Promise<NoInfer<T>>

/**
 * Arguments of `step.invoke` after the workflow. The input may be left out where it may be
 * undefined.
 */
type InvokeArguments<On> =
  undefined extends InputOf<On>
    ? [input?: InputOf<On>, options?: InvokeOptions]
    : [input: InputOf<On>, options?: InvokeOptions]

/** Arguments of `step.continueAs`. */
type ContinueArguments<On> = undefined extends InputOf<On> ? [input?: InputOf<On>] : [input: InputOf<On>]

/** Options of `step.receive`. */
interface ReceiveOptions<On extends EventTrigger> {
  /** An event type, a family such as `file.*`, or a definition. */
  on: On
  /**
   * Keys of the definition, with the values that all must match. Default: any event of the type.
   *
   * Throws `invalid_workflow` for a key that no loaded module declares.
   */
  where?: On extends EventDefinition
    ? Partial<NonNullable<On['carries']>>
    : 'needs a definition as `on`: a type alone has no keys'
  /** Longest wait, from the step's start. Then the step returns null. */
  timeout: Duration
}

/** Options of `step.waitFor`. */
interface WaitOptions<On extends EventTrigger> extends ReceiveOptions<On> {
  /**
   * Events that count. `now`: those stored after the wait began. `run`: also earlier ones, stored
   * since the run was created. Default `now`.
   *
   * The event that started the run never counts.
   */
  since?: 'now' | 'run'
}

/** An event or an answer, by what the code waits for. */
type Found<On extends EventTrigger, Answer> = AwaitedEvent<On> | ([Answer] extends [never] ? never : HookAnswer<Answer>)

/** The argument of a step's function. */
export interface StepContext {
  /** Counted from 1. Attempts that `RetryAt` or `RetryAfter` ended do not count. */
  attempt: number
  /**
   * The same in every attempt, also after a crash. Pass it to an API that takes one, and the effect
   * happens once. A header value of at most 92 ASCII characters: the run's id, `/` and the step.
   */
  idempotencyKey: string
  /** Aborts when the attempt times out, the run is canceled, or the process stops. */
  signal: AbortSignal
}

/**
 * The durable verbs. A finished step never runs again: a replay returns its kept result.
 *
 * Results are kept as JSON, and typed as what comes back: a `Date` is text, see `Jsonify`. A result
 * that JSON refuses fails the step at once with `output_not_json`; above 32 MiB, with
 * `output_too_large`.
 *
 * A step called after the run's function has ended throws `run_ended` and runs nothing.
 *
 * A step that fails for good throws `StepError`. A step that has to wait leaves its promise open,
 * and the run continues from its top later.
 */
export interface StepApi<On = Trigger> {
  /**
   * Runs `fn` until it succeeds once, and returns its result.
   *
   * A process that dies meanwhile repeats the step, with the same `idempotencyKey`; see `once` for
   * the opposite. In a loop pass `[name, key]`, so that each turn keeps its own result.
   *
   * Throws `StepError` after the last attempt, and `Interrupted` for a `once` step without a known
   * end.
   */
  run<T>(
    name: StepName,
    fn: ((context: StepContext) => T | Promise<T>) & KeptAsJson<T>,
    options?: OnceStepOptions & { dry?: Dry<T> },
  ): Promise<Jsonify<T>>
  /**
   * Runs a step `[name, key]` for each item, and returns the results in the order of the items. At
   * most `parallel` run at once, 1 or more; default 8.
   *
   * `keyOf` must return a different key for each item; `invalid_workflow` otherwise. An item that
   * waits for its next attempt delays no other.
   *
   * Like `Promise.all`, it throws the error of the first item that fails for good, in each replay.
   * After that no other item begins or is tried again. Running items finish in the background.
   */
  map<Item, T>(
    name: string,
    items: Iterable<Item>,
    keyOf: (item: Item, index: number) => string | number,
    fn: ((item: Item, context: StepContext) => T | Promise<T>) & KeptAsJson<T>,
    options?: OnceStepOptions & { parallel?: number; dry?: Dry<T, [item: Item]> },
  ): Promise<Jsonify<T>[]>
  /**
   * Frees the worker until an event of the run's account arrives, and returns it. Returns null
   * after `timeout`.
   *
   * The event is not used up: it starts its own runs and resolves other waits. One that does not
   * fit its definition makes the run wait for a person.
   *
   * With a hook: until it is answered, and null once it has expired. An answer that came before
   * counts; each wait gets the same one.
   */
  waitFor<On extends EventTrigger = never, Answer = never>(
    name: StepName,
    what: WaitOptions<On> | Hook<Answer, false>,
  ): Promise<Found<On, Answer> | null>
  /**
   * Returns the next event that matches: each one once, in the order of storing. Those that came
   * while the code was elsewhere count. Null after `timeout`, which takes none.
   *
   * Events count from the run's start. Calls with the same `on` and `where` take from one sequence,
   * whatever their names. An event that does not fit is as in `waitFor`.
   *
   * With a hook with `many`: its next answer, each one once. Null once it has expired.
   */
  receive<On extends EventTrigger = never, Answer = never>(
    name: StepName,
    what: ReceiveOptions<On> | Hook<Answer, true>,
  ): Promise<Found<On, Answer> | null>
  /**
   * Opens a callback URL for an answer to this run, and returns it: the same in each replay. The
   * answer may come before `step.waitFor` asks for it. See the guide `hooks`.
   *
   * Throws `invalid_workflow` for options that are not valid, and `invalid_config` without
   * `UPSHOT_PUBLIC_URL`.
   */
  hook<Schema extends z.ZodType = z.ZodUnknown, Many extends boolean = false>(
    name: StepName,
    options: HookOptions<Schema, Many>,
  ): Promise<Hook<z.output<Schema>, Many>>
  /**
   * Makes an event of your own, exactly once, and returns its id. It starts workflows like a
   * delivered one. Types under `upshot.` are reserved and throw `invalid_workflow`.
   *
   * `type`: a definition, or a type as text, whose `data` is any object. At most 1 MiB; throws
   * `output_too_large` for a larger event. A chain of runs that send one another events throws
   * `invoke_too_deep` after 1,000 links. Where each takes a minute or longer, it has 10,000.
   */
  send<Type extends string, Input = Record<string, unknown>>(
    name: StepName,
    type: Type | EventDefinition<Type, unknown, Input>,
    data: NoInfer<Input>,
    options?: SendOptions,
  ): Promise<{ id: string }>
  /**
   * Makes a schedule of a callable workflow, or changes the one that code made under this name,
   * exactly once. `upshot schedules` lists it beside all others.
   *
   * Unlike other names of steps, `name` is the same in all runs: 1 to 100 letters, digits and `. _
   * : @ -`. Throws `invalid_workflow` for a bad line, and `conflict` for the name of a schedule
   * that is not of code.
   *
   * A chain of runs that schedule one another throws `invoke_too_deep` after 100 links. Where each
   * takes a minute or longer, it has 10,000. `cron` has no end.
   */
  schedule<On extends CallableTrigger>(name: string, schedule: ScheduleRequest<On>): Promise<void>
  /** Removes a schedule that code made, exactly once. It is no error where there is none. */
  unschedule(name: string): Promise<void>
  /**
   * Runs another workflow exactly once, and returns its output. The waiting run holds no worker.
   *
   * Throws `StepError` when the other run fails, is skipped or canceled, and after `timeout`. See
   * `parentClosePolicy` for an end of this run before that.
   *
   * An input that does not fit its schema, and an invocation more than 100 deep, throw `StepError`,
   * too. The input has at most 1 MiB; throws `output_too_large` for a larger one.
   */
  invoke<On extends Trigger, Output>(
    name: StepName,
    workflow: Invocable<On, Output> & KeptAsJson<Awaited<Output>>,
    ...input: InvokeArguments<On>
  ): Promise<Jsonify<Awaited<Output>>>
  /**
   * Asks people, frees the worker, and returns their verdict. `upshot approvals` shows and decides
   * the question; a no and the end of `timeout` are verdicts, not errors.
   *
   * The question and its verdict make the events `upshot.approval.opened` and `.closed`. Throws
   * `invalid_workflow` for a question that is not valid.
   */
  approve<Schema extends z.ZodType = z.ZodNull>(
    name: StepName,
    question: ApproveOptions<Schema>,
  ): Promise<ApproveVerdict<z.output<Schema>>>
  /**
   * Whether this run goes by a change of the code. True where it comes here with the present code,
   * false where an earlier pass has gone past this place. One answer holds for the whole run.
   *
   * Keep the marker until no run of the code before it is unfinished. `id`: a name of the change.
   */
  patched(id: string): Promise<boolean>
  /**
   * Ends this run after its steps at work, and begins another one with `input` in the same commit.
   * That has its slots at limits and its parent, and receives on. Code behind the call never runs.
   *
   * Throws `invalid_workflow` in `onFailure` and on a schedule. The input is checked as that of
   * `step.invoke`.
   */
  continueAs(...input: ContinueArguments<On>): Promise<never>
  /** Frees the worker and continues after `duration`, across restarts. */
  sleep(name: StepName, duration: Duration): Promise<void>
  /**
   * Frees the worker and continues at `moment`, a date or epoch milliseconds. A moment that has
   * passed does not pause.
   */
  sleepUntil(name: StepName, moment: Date | number): Promise<void>
}
