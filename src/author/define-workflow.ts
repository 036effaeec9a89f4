import { z } from 'zod'
import { UpshotError } from '../core/errors.ts'
import { listIssues } from '../core/json.ts'
import { isPriority, MAX_PRIORITY } from '../core/runs/admission.ts'
import { MAX_STEPS } from '../core/runs/step.ts'
import { workflowGuard } from '../core/safety/guard-schema.ts'
import { parseDuration } from '../core/time.ts'
import type { KeyedEvent, KeyValue } from './event-keys.ts'
import type { SilenceBeside, StartOf, Workflow, WorkflowOptions } from './workflow.ts'

/**
 * Defines a workflow: one run for each event, tick or invocation that `on` names. An event that is
 * delivered again starts no second run. With `batch`, one run takes many events, and with
 * `debounce`, events in quick succession. Its module exports the result as its default.
 *
 * Throws `invalid_workflow` with every fault of the options.
 */
export function defineWorkflow<
  const On extends StartOf<Size, Silence>,
  Output,
  Size extends number = never,
  Silence extends SilenceBeside<Size> = never,
>(options: WorkflowOptions<On, Output, Size, Silence>): Workflow<On, Output> {
  const checked = workflowSchema.safeParse(options)
  if (!checked.success) {
    const faults = listIssues(checked.error.issues).map(
      (issue) => `${issue.path.join('.') || 'definition'}: ${issue.message}`,
    )
    throw new UpshotError('invalid_workflow', `Workflow "${options?.id}" is not valid. ${faults.join('; ')}`)
  }
  return { ...options, kind: 'workflow' } as Workflow<On, Output>
}

/** A duration as an author writes it, parsed into milliseconds. */
const duration = z.unknown().transform((given, context) => {
  try {
    return parseDuration(given as number | string)
  } catch {
    context.addIssue('must be a duration such as "30s" or "5m", at most 8.6e15 ms')
    return z.NEVER
  }
})

const positiveDuration = duration.refine((ms) => ms > 0, 'must be longer than 0')

const code = z.custom<(context: never) => unknown>((value) => typeof value === 'function', 'must be a function')

const key = z.custom<(cause: never) => string>((value) => typeof value === 'function', 'must be a function').optional()

const limit = z.int().min(1)

const concurrency = z.strictObject({ limit, key })

const limits = {
  concurrency: z
    .union([concurrency, z.tuple([concurrency, concurrency])], 'must be { limit, key }, or a list of two of them')
    .optional(),
  throttle: z.strictObject({ limit, per: positiveDuration, key }).optional(),
  priority: z
    .custom<number>(
      (value) => typeof value === 'function' || isPriority(value),
      `must be a whole number from -${MAX_PRIORITY} to ${MAX_PRIORITY}, or a function`,
    )
    .optional(),
  singleton: z
    .union(
      [z.literal(true), z.strictObject({ key, onConflict: z.enum(['skip', 'queue', 'cancel']).optional() })],
      'must be true or { key, onConflict }',
    )
    .optional(),
  batch: z.strictObject({ size: z.int().min(1).max(10_000), wait: positiveDuration, key }).optional(),
  debounce: z.strictObject({ wait: positiveDuration, max: positiveDuration.optional(), key }).optional(),
  timeout: z
    .strictObject({
      start: positiveDuration.optional(),
      step: duration.optional(),
      run: positiveDuration.optional(),
    })
    .optional(),
}

const eventTrigger = z.union([z.string().min(1), z.looseObject({ kind: z.literal('event') })])

const cancelRule = z
  .strictObject({
    on: eventTrigger,
    where: z
      .record(
        z.string(),
        z.custom<(cause: never) => KeyValue>((value) => typeof value === 'function'),
      )
      .optional(),
  })
  .superRefine(({ on, where = {} }, context) => {
    const keys = typeof on === 'string' ? {} : (on as unknown as KeyedEvent).keys
    for (const name of Object.keys(where)) {
      if (!(name in keys)) context.addIssue(`where: "${name}" is not a key of its event; declare it in defineEvent`)
    }
  })

const cancelRules = z
  .preprocess(
    (rules) => (Array.isArray(rules) || rules === undefined ? rules : [rules]),
    z.array(cancelRule).optional(),
  )
  .optional()

/** Checks the options of `defineWorkflow`; the types of its options say what each one means. */
const workflowSchema = z
  .strictObject({
    id: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,79}$/, 'must be words of a-z and 0-9 joined by "-", at most 80 characters'),
    on: z.union(
      [z.string().min(1), z.looseObject({ kind: z.enum(['event', 'cron', 'callable']) }), z.array(eventTrigger).min(1)],
      'must be an event type, defineEvent(…), a list of these, cron(…) or callable(…)',
    ),
    where: code.optional(),
    tags: code.optional(),
    retry: z
      .strictObject({ attempts: z.int().min(1).optional(), min: duration.optional(), max: duration.optional() })
      .optional(),
    ...limits,
    guard: workflowGuard.optional(),
    limits: z.strictObject({ steps: z.int().min(1).max(MAX_STEPS).optional() }).optional(),
    cancelOn: cancelRules,
    run: code,
    onFailure: code.optional(),
  })
  .superRefine(refuseContradictions)

/** Adds an issue for each pair of options that contradict each other. */
function refuseContradictions(
  { on, batch, debounce, cancelOn }: { on: unknown; batch?: unknown; debounce?: unknown; cancelOn?: unknown },
  context: z.RefinementCtx,
): void {
  const refuse = (option: string, message: string) => context.addIssue({ code: 'custom', path: [option], message })
  const kind = typeof on === 'object' && on !== null && 'kind' in on ? on.kind : 'event'
  if (kind !== 'event' && batch) refuse('batch', 'needs a workflow that events start')
  if (kind !== 'event' && debounce) refuse('debounce', 'needs a workflow that events start')
  if (batch && debounce) refuse('debounce', 'cannot be combined with `batch`')
  if (batch && cancelOn) refuse('cancelOn', 'cannot be combined with `batch`: its runs have several events')
}
