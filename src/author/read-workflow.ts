import { hash } from 'node:crypto'
import type { z } from 'zod'
import { matchType } from '../core/incoming/event.ts'
import { writeJsonSchema } from '../core/incoming/json-schema.ts'
import type { Route } from '../core/incoming/route.ts'
import type { JsonValue } from '../core/json.ts'
import { UNADMITTED_PRIORITY } from '../core/runs/admission.ts'
import type { CronTrigger } from '../core/runs/schedule.ts'
import { parseDuration } from '../core/time.ts'
import type { EventDefinition } from './define-event.ts'
import type { AnyLimits, TimeoutOptions } from './limits.ts'
import { isDefinition, listTriggers, type Trigger } from './trigger.ts'
import type { AnyCancelRule, AnyWorkflow } from './workflow.ts'

/**
 * The definition that parses an event of `type`; undefined where the author relies on no shape.
 */
export function findDefinition(on: Trigger, type: string): EventDefinition | undefined {
  return listTriggers(on).find(
    (trigger): trigger is EventDefinition => isDefinition(trigger) && matchType(trigger.type, type),
  )
}

/** The routes of a workflow; none for one that is invoked or runs on a cron line. */
export function planRoutes(workflow: AnyWorkflow): Route[] {
  const priority = planFirstPriority(workflow)
  return listTriggers(workflow.on).map((trigger) => ({
    eventType: isDefinition(trigger) ? trigger.type : trigger,
    workflow: workflow.id,
    ...(priority === 0 ? {} : { priority }),
  }))
}

/** Whether an event of a type starts it. */
export function startsOn({ on }: AnyWorkflow, type: string): boolean {
  return listTriggers(on).some((trigger) => matchType(isDefinition(trigger) ? trigger.type : trigger, type))
}

/** The schedule of a cron workflow; null for any other. */
export function scheduleOf(workflow: AnyWorkflow): CronTrigger | null {
  const { on } = workflow
  return typeof on === 'object' && 'kind' in on && on.kind === 'cron' ? on : null
}

/** A workflow as other processes know it, without the file of its module. */
export function describeWorkflow(workflow: AnyWorkflow) {
  const { id, timeout } = workflow
  const schema = inputOf(workflow)
  return {
    id,
    eventTypes: planRoutes(workflow).map((route) => route.eventType),
    schedule: scheduleOf(workflow),
    ...(schema === null ? {} : { input: describeInput(schema) }),
    priority: planFirstPriority(workflow),
    ...(timeout?.run === undefined ? {} : { runTimeoutMs: parseDuration(timeout.run) }),
  }
}

/** The input schema of a callable workflow; null for any other. */
export function inputOf({ on }: Pick<AnyWorkflow, 'on'>): z.ZodType | null {
  return typeof on === 'object' && 'kind' in on && on.kind === 'callable' ? on.input : null
}

/** The input as JSON Schema; without the parts that JSON Schema cannot say. */
function describeInput(schema: z.ZodType): JsonValue {
  try {
    const { $schema: _, ...described } = writeJsonSchema(schema, 'any')
    return schema.safeParse(undefined).success ? { anyOf: [described, { type: 'null' }] } : described
  } catch {
    return {}
  }
}

export function describeTrigger(workflow: AnyWorkflow): string {
  if (inputOf(workflow)) return 'being invoked'
  const schedule = scheduleOf(workflow)
  if (schedule) return `cron ${schedule.expression} (${schedule.timezone})`
  return planRoutes(workflow)
    .map((route) => route.eventType)
    .join(', ')
}

/** The rules of `cancelOn` as a list. */
export function listCancelRules({ cancelOn }: AnyWorkflow): readonly AnyCancelRule[] {
  if (cancelOn === undefined) return []
  return 'on' in cancelOn ? [cancelOn] : cancelOn
}

/** True when the store must admit the new runs of a workflow: for their limits, or their tags. */
export function isGated(workflow: Pick<AnyWorkflow, 'tags'> & Parameters<typeof isLimited>[0]): boolean {
  return workflow.tags !== undefined || isLimited(workflow)
}

/** True when a workflow has limits, which each of its runs meets. */
export function isLimited(workflow: AnyLimits & { timeout?: TimeoutOptions }): boolean {
  const { concurrency, throttle, singleton, batch, debounce, priority, timeout } = workflow
  const limits = [concurrency, throttle, singleton, batch, debounce, timeout?.start]
  return typeof priority === 'function' || limits.some((limit) => limit !== undefined)
}

/** Priority of a new run until it is admitted. */
export function planFirstPriority(workflow: Parameters<typeof isGated>[0]): number {
  if (isGated(workflow)) return UNADMITTED_PRIORITY
  return typeof workflow.priority === 'number' ? workflow.priority : 0
}

/**
 * Hash of a workflow's module and the files that it imports, or of its function's text. The hash
 * may change when behaviour does not; alone it never parks a run.
 */
export function codeHashOf(workflow: AnyWorkflow): string {
  return workflow.codeHash ?? digest(String(workflow.run))
}

/** The first 16 hexadecimal digits (64 bits) of a text's SHA-256. */
export function digest(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 16)
}
