import { z } from 'zod'

/** Where a fault can strike: operations of the API, the download host, and webhook deliveries. */
export const FAULT_TARGETS = [
  'files.list',
  'files.get',
  'files.download',
  'files.delete',
  'download',
  'delivery',
] as const
/** A place where a fault can strike. */
export type FaultTarget = (typeof FAULT_TARGETS)[number]

const count = z.number().int().min(0)

/** Effects on a reply of the API or of the download host. Delays use the machine's clock. */
const replyFault = {
  /** Delay before anything else, in milliseconds of the machine's clock. Default none. */
  latencyMs: count.optional(),
  /** Replies with this status, 200 or 400 to 599, and its error body. Default none. */
  status: z.union([z.literal(200), z.number().int().min(400).max(599)]).optional(),
  /** Resets the connection. Default false. */
  reset: z.boolean().optional(),
  /** Replies 200 with a body that is not JSON. Default false. */
  garbage: z.boolean().optional(),
  /** Replies with a gateway's HTML page, with `status` or 502. Default false. */
  html: z.boolean().optional(),
  /** Cuts the connection after this many bytes of the body. Default none. */
  cutAfterBytes: count.optional(),
  /**
   * Stops sending after this many bytes of the body and keeps the connection open. Default none.
   */
  stallAfterBytes: count.optional(),
  /** Limits the body to this many bytes a second. Default unlimited. */
  bytesPerSecond: z.number().int().min(1).optional(),
  /** Sends rate limit headers that contradict one another. Default false. */
  contradictRateHeaders: z.boolean().optional(),
  /**
   * Performs the operation before its reply is spoiled. Default false: `status`, `reset`, `html`
   * and `garbage` prevent it.
   */
  afterwards: z.boolean().optional(),
}

/** Effects on a delivery. Delays use the sandbox's clock. */
const deliveryFault = {
  /** Limits the fault to events of this type; `file.*` matches by prefix. Default all. */
  type: z.string().optional(),
  /** Fails the delivery without sending or retrying it. Default false. */
  drop: z.boolean().optional(),
  /** Sends the delivery twice. Default false. */
  duplicate: z.boolean().optional(),
  /** Delays the delivery by this many milliseconds of the sandbox's clock. Default none. */
  delayMs: count.optional(),
  /** Sends the delivery after the next one, or after a minute. Default false. */
  reorder: z.boolean().optional(),
  /** `bad`: signed with another secret; `stale`: signed an hour ago. Default a valid signature. */
  signature: z.enum(['bad', 'stale']).optional(),
  /** Changes the body after it was signed. Default false. */
  tamper: z.boolean().optional(),
}

const WHEN = new Set(['on', 'times', 'probability', 'skip', 'type', 'afterwards'])

/** A fault as data: where, when and what. A rule that could do nothing is refused. */
export const faultInput = z
  .strictObject({
    /** The target; `*` stands for every operation and the download host, not for deliveries. */
    on: z.union([z.enum(FAULT_TARGETS), z.literal('*')]),
    /** How often the fault strikes before it is used up. Default null: without end. */
    times: z.number().int().min(1).nullable().default(null),
    /** The probability of each strike, 0 to 1. Default 1. */
    probability: z.number().min(0).max(1).default(1),
    /** How many matching calls pass before the first strike. Default 0. */
    skip: count.default(0),
    ...replyFault,
    ...deliveryFault,
  })
  .superRefine(refuseIdle)
/** The options of a new fault. */
export type FaultInput = z.input<typeof faultInput>
type FaultRule = z.infer<typeof faultInput>

/** A fault that is set. */
export interface Fault extends FaultRule {
  /** `flt_1`, `flt_2` … in the order of `add`. */
  id: string
  /** How often the fault could have struck. */
  seen: number
  /** How often the fault struck. */
  struck: number
}

/** Refuses a rule without an effect, and one whose effect never applies to its target. */
function refuseIdle(rule: Record<string, unknown>, context: z.RefinementCtx): void {
  const fitting: object = rule.on === 'delivery' ? deliveryFault : replyFault
  const given = Object.entries(rule).flatMap(([name, value]) => (value === undefined || value === false ? [] : name))
  const places = ['on', 'times', 'probability', 'skip']
  const foreign = given.find((name) => !places.includes(name) && !(name in fitting))
  if (foreign !== undefined)
    context.addIssue({ code: 'custom', path: [foreign], message: `it does nothing on ${String(rule.on)}` })
  else if (given.every((name) => WHEN.has(name)))
    context.addIssue({ code: 'custom', path: ['on'], message: 'the rule names a target but no effect' })
}
