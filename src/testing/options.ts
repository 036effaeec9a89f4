import type { AnyWorkflow } from '../author/workflow.ts'
import { UpshotError } from '../core/errors.ts'
import { replaceSteps, type StepReplacements } from './engine/replace-steps.ts'
import type { ServiceOptions } from './world/test-service.ts'

export interface TestbedOptions {
  /** All that there are: an event of a type that none of them runs on starts nothing. */
  workflows: readonly AnyWorkflow[]
  /** Where the clock stands at first; default 2026-01-01T00:00:00Z. */
  now?: string | number | Date
  /** Jitter of retries and faults of the sandbox follow from it; default 1. */
  seed?: number
  /** Runs at work at the same time; default 20. */
  slots?: number
  /**
   * Functions in place of those of some steps, by workflow and by the step's name without its key.
   */
  steps?: StepReplacements
  /** Of the sandbox; by default it has no rate limit. */
  sandbox?: ServiceOptions
  /**
   * Real milliseconds in which nothing moves until a step at work is taken for one that hangs;
   * default 4,000.
   */
  patienceMs?: number
}

/** The options with every default filled in; throws what is wrong with them. */
export function readOptions(options: TestbedOptions) {
  const { seed = 1, slots = 20, steps = {}, sandbox = {}, patienceMs = 4_000 } = options
  const workflows = new Map(replaceSteps(options.workflows, steps).map((workflow) => [workflow.id, workflow]))
  if (workflows.size < options.workflows.length) {
    throw new UpshotError('invalid_workflow', 'Two workflows of the testbed have the same id. Rename one of them.')
  }
  const now = new Date(options.now ?? '2026-01-01T00:00:00Z').getTime()
  if (Number.isNaN(now)) {
    throw new UpshotError('invalid_request', `"${options.now}" is no moment. Write one such as "2026-01-01T00:00:00Z".`)
  }
  return { workflows, now, seed, slots, sandbox, patienceMs }
}
