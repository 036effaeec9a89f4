import type { z } from 'zod'
import { matchType } from '../core/incoming/event.ts'
import type { Route } from '../core/incoming/route.ts'
import { UNADMITTED_PRIORITY } from '../core/runs/admission.ts'
import type { CronTrigger } from '../core/runs/schedule.ts'
import type { EventDefinition } from './define-event.ts'
import type { AnyLimits, TimeoutOptions } from './limits.ts'
import type { Trigger } from './trigger.ts'
import { isDefinition, listTriggers } from './trigger.ts'
import type { AnyCancelRule, AnyWorkflow } from './workflow.ts'

/**
 * The event definition that an event of `type` is read with; undefined where the author relies on
 * no shape.
 */
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

/** Whether the runs of a workflow have to be admitted by the store. */
export function isGated(flow: AnyLimits & { timeout?: TimeoutOptions }): boolean {
  const { concurrency, throttle, singleton, batch, debounce, priority, timeout } = flow
  const limits = [concurrency, throttle, singleton, batch, debounce, timeout?.start]
  return typeof priority === 'function' || limits.some((limit) => limit !== undefined)
}

/** The priority of a run that has not been looked at yet. */
export function planFirstPriority(flow: AnyLimits & { timeout?: TimeoutOptions }): number {
  if (isGated(flow)) return UNADMITTED_PRIORITY
  return typeof flow.priority === 'number' ? flow.priority : 0
}
