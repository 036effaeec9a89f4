import { z } from 'zod'
import { UpshotError } from '../core/errors.ts'
import { duration, limitOptions, refuseContradictions } from './limits.ts'
import type { EventTriggers, Trigger } from './trigger.ts'
import { cancelRules, eventTrigger } from './trigger.ts'
import type { BatchWorkflowOptions, DebounceWorkflowOptions, Workflow, WorkflowOptions } from './workflow.ts'

export const definition = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,79}$/, 'must be words of a-z and 0-9 joined by "-", at most 80 characters'),
  on: z.union([eventTrigger, z.array(eventTrigger).min(1), z.looseObject({ kind: z.enum(['cron', 'callable']) })]),
  where: z.custom<(event: never) => boolean>((value) => typeof value === 'function').optional(),
  retry: z
    .strictObject({ attempts: z.int().min(1).optional(), min: duration.optional(), max: duration.optional() })
    .optional(),
  ...limitOptions,
  cancelOn: cancelRules,
  run: z.custom<(context: never) => unknown>((value) => typeof value === 'function', 'must be a function'),
  onFailure: z
    .custom<(context: never) => unknown>((value) => typeof value === 'function', 'must be a function')
    .optional(),
})

/**
 * Checks a workflow and gives it back for the module's default export; throws `invalid_workflow`.
 */
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
    throw new UpshotError('invalid_workflow', `Workflow "${options?.id}" is not valid. ${faults.join('; ')}`)
  }
  return { ...options, kind: 'workflow' }
}
