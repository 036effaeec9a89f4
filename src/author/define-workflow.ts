import { UpshotError } from '../core/errors.ts'
import type { EventTriggers, Trigger } from './trigger.ts'
import type { BatchWorkflowOptions, DebounceWorkflowOptions, Workflow, WorkflowOptions } from './workflow.ts'
import { workflowSchema } from './workflow-schema.ts'

/**
 * Defines a workflow that gathers events: one run for each `batch`. Its module exports the result
 * as its default.
 *
 * Throws `invalid_workflow` with every fault of the options.
 */
export function defineWorkflow<const On extends EventTriggers, Output>(
  options: BatchWorkflowOptions<On, Output>,
): Workflow<On, Output>

/**
 * Defines a workflow that waits for silence: one run for events in quick succession, by `debounce`.
 * Its module exports the result as its default.
 *
 * Throws `invalid_workflow` with every fault of the options.
 */
export function defineWorkflow<const On extends EventTriggers, Output>(
  options: DebounceWorkflowOptions<On, Output>,
): Workflow<On, Output>

/**
 * Defines a workflow: one run for each event, tick or invocation that `on` names. An event that is
 * delivered again starts no second run. Its module exports the result as its default.
 *
 * Throws `invalid_workflow` with every fault of the options.
 */
export function defineWorkflow<const On extends Trigger, Output>(
  options: WorkflowOptions<On, Output>,
): Workflow<On, Output>

export function defineWorkflow<On extends Trigger, Output>(
  options: Omit<Workflow<On, Output>, 'kind'>,
): Workflow<On, Output> {
  const checked = workflowSchema.safeParse(options)
  if (!checked.success) {
    const faults = checked.error.issues.map((issue) => `${issue.path.join('.') || 'definition'}: ${issue.message}`)
    throw new UpshotError('invalid_workflow', `Workflow "${options?.id}" is not valid. ${faults.join('; ')}`)
  }
  return { ...options, kind: 'workflow' }
}
