import { z } from 'zod'
import { describeError } from '../errors.ts'
import { type Guard, OVER, parseShare, parseSize, type WorkflowLimits } from './guard.ts'

const count = z.int().min(0).optional()

const counts = z.strictObject({ perRun: count, perHour: count, perDay: count })

/** A value that `parse` reads; adds an issue with the message of what it throws. */
const parsed = <T>(parse: (given: never) => T) =>
  z
    .unknown()
    .transform((given, context): T => {
      try {
        return parse(given as never)
      } catch (error) {
        context.addIssue(describeError(error).message)
        return z.NEVER
      }
    })
    .optional()

const size = parsed(parseSize)

const scope = {
  deletes: counts.extend({ share: parsed(parseShare), shareFrom: z.int().min(1).optional() }).optional(),
  bytes: z.strictObject({ perRun: size, perHour: size, perDay: size }).optional(),
  writes: counts.optional(),
}

/** The `guard` of a workflow, parsed: sizes are bytes, shares are parts of 1. */
export const workflowGuard = z.strictObject({ ...scope, over: z.enum(OVER).optional() })

const { share: _share, shareFrom: _from, ...plainDeletes } = scope.deletes.unwrap().shape
const plainScope = z.strictObject({ ...scope, deletes: z.strictObject(plainDeletes).optional() })

/** The `guard` of the project file; each scope that is left out keeps its default. */
export const guardSchema = (defaults: Guard) =>
  z
    .strictObject({
      all: plainScope.optional(),
      account: plainScope.optional(),
      storage: plainScope.optional(),
      workflow: workflowGuard.optional(),
    })
    .prefault({})
    .transform(
      (given): Guard => ({
        all: given.all ?? defaults.all,
        account: given.account ?? defaults.account,
        storage: given.storage ?? defaults.storage,
        workflow: given.workflow ?? defaults.workflow,
      }),
    )

/** Reads the `guard` of a workflow that `defineWorkflow` has checked; undefined without one. */
export function readWorkflowGuard({ guard }: { guard?: object | undefined }): WorkflowLimits | undefined {
  if (guard === undefined) return undefined
  const known = knownLimits.get(guard)
  if (known !== undefined) return known
  const limits = workflowGuard.parse(guard)
  knownLimits.set(guard, limits)
  return limits
}

/** A cache: every pass asks for the limits of its workflow. */
const knownLimits = new WeakMap<object, WorkflowLimits>()
