import type { ConfigFile } from '../author/define-config.ts'
import type { AnyWorkflow } from '../author/workflow.ts'
import { UpshotError } from '../core/errors.ts'
import { DEFAULT_GUARD, DEFAULT_POLICY, type GuardPolicy } from '../core/safety/guard.ts'
import { guardSchema } from '../core/safety/guard-schema.ts'
import { isMoment } from '../core/time.ts'
import { ReplacedSteps, type StepReplacements } from './engine/replaced-steps.ts'
import { TestWorkflows } from './test-workflows.ts'
import type { TestServiceOptions } from './world/test-service.ts'

/** The options of a testbed. Only `workflows` is required. */
export interface TestbedOptions {
  /** All workflows. An event that none of them runs on starts nothing. */
  workflows: readonly AnyWorkflow[]
  /**
   * The time at the start, as ISO 8601, epoch milliseconds or a Date. Default 2026-01-01T00:00:00Z.
   */
  now?: string | number | Date
  /** Seed of the retries' jitter and of the sandbox. Default 1. */
  seed?: number
  /** The number of runs that a worker executes at the same time. Default 20. */
  slots?: number
  /** Workers that share the store, as several processes do. A crash ends all of them. Default 1. */
  workers?: number
  /**
   * Functions that replace those of steps, by workflow and step name without its key. They answer
   * waits, invocations and questions, too. Default none.
   */
  steps?: StepReplacements
  /**
   * Names of the accounts besides `default`. The files of all of them are in the one sandbox.
   * Default: none.
   */
  accounts?: readonly string[]
  /** Options of the sandbox. Default: no rate limit. */
  sandbox?: TestServiceOptions
  /**
   * Bounds on effects, as `guard` of the project file. Default: its defaults, so a workflow that
   * deletes more than 20 files in a run is held.
   */
  guard?: ConfigFile['guard']
  /**
   * True: a run that waits stays in memory and goes on there, as long runs do in the app. Default
   * false: each pass replays, which finds code that is not the same in every pass.
   */
  cachePasses?: boolean
  /**
   * A PostgreSQL, such as `postgres://localhost/test`, for the runs. Their schema is dropped at the
   * end. Default: a store in memory.
   */
  databaseUrl?: string
  /** Real milliseconds without movement before a running step counts as hanging. Default 4,000. */
  patienceMs?: number
}

/** Fills in the defaults. Throws `invalid_workflow` or `invalid_request`. */
export function readOptions(options: TestbedOptions) {
  const guard = readGuard(options.guard)
  const { seed = 1, slots = 20, workers = 1, steps = {}, sandbox = {}, accounts = [], patienceMs = 4_000 } = options
  const cachePasses = options.cachePasses ?? false
  const replaced = new ReplacedSteps(steps)
  const workflows = new TestWorkflows(options.workflows, replaced)
  const now = readMoment(options.now ?? '2026-01-01T00:00:00Z')
  return { workflows, replaced, now, seed, slots, workers, sandbox, accounts, patienceMs, guard, cachePasses }
}

/** Epoch milliseconds. Throws `invalid_request` for what is not a moment. */
export function readMoment(given: string | number | Date): number {
  const moment = new Date(given).getTime()
  if (isMoment(moment)) return moment
  const message = `"${given}" is not a moment. Write one such as "2026-01-01T00:00:00Z".`
  throw new UpshotError('invalid_request', message)
}

function readGuard(given: ConfigFile['guard']): GuardPolicy {
  const parsed = guardSchema(DEFAULT_GUARD).safeParse(given)
  if (parsed.success) return { ...DEFAULT_POLICY, limits: parsed.data }
  const faults = parsed.error.issues.map(({ path, message }) => `${['guard', ...path].join('.')}: ${message}`)
  throw new UpshotError('invalid_request', `The options of the testbed are not valid. ${faults.join('; ')}`)
}
