import { z } from 'zod'

/**
 * Where a fault can strike: the operations of the API, the download host, and the deliveries of
 * webhooks.
 */
export const FAULT_TARGETS = [
  'files.list',
  'files.get',
  'files.download',
  'files.delete',
  'download',
  'delivery',
] as const
/** One place where a fault can strike. */
export type FaultTarget = (typeof FAULT_TARGETS)[number]

const count = z.number().int().min(0)

/**
 * What goes wrong with a reply of the API or of the download host. Waits are on the machine's
 * clock, as a client's are.
 */
const replyFault = {
  /** Waits before anything else. */
  latencyMs: count.optional(),
  /** Answers with this status and the error body that belongs to it. */
  status: z.number().int().min(400).max(599).optional(),
  /** The connection is reset. */
  reset: z.boolean().optional(),
  /** What is no JSON comes with a status of success. */
  garbage: z.boolean().optional(),
  /** A page of a gateway comes with a status of 502, or `status`. */
  html: z.boolean().optional(),
  /** The connection ends after so many bytes of the body. */
  cutAfterBytes: count.optional(),
  /** After so many bytes of the body nothing comes any more, and the connection stays. */
  stallAfterBytes: count.optional(),
  /** The body trickles. */
  bytesPerSecond: z.number().int().min(1).optional(),
  /** Rate limit headers that contradict each other. */
  contradictRateHeaders: z.boolean().optional(),
  /** Whether the operation happens all the same before its reply is spoiled. Default false. */
  afterwards: z.boolean().optional(),
}

/** What goes wrong with a delivery. Delays are on the sandbox's clock. */
const deliveryFault = {
  /** Only events of this type; `*` at the end stands for anything. */
  type: z.string().optional(),
  /** Never sent, never retried, and nobody is told. */
  drop: z.boolean().optional(),
  /** Sent twice. */
  duplicate: z.boolean().optional(),
  /** Sent later. */
  delayMs: count.optional(),
  /** Sent after the next one, or a minute later if none comes. */
  reorder: z.boolean().optional(),
  /** `bad`: another secret's signature; `stale`: an hour old. */
  signature: z.enum(['bad', 'stale']).optional(),
  /** The body is changed after it was signed. */
  tamper: z.boolean().optional(),
}

const WHEN = new Set(['on', 'times', 'probability', 'skip', 'type', 'afterwards'])

/** A fault as data: where, when, and what. One that could do nothing is refused. */
export const faultInput = z
  .strictObject({
    /** `*`: every operation and the download host. */
    on: z.union([z.enum(FAULT_TARGETS), z.literal('*')]),
    /** It strikes so often, then is used up; null: for ever. */
    times: z.number().int().min(1).nullable().default(null),
    /** How likely it strikes each time it could. */
    probability: z.number().min(0).max(1).default(1),
    /** It lets so many pass first. */
    skip: count.default(0),
    ...replyFault,
    ...deliveryFault,
  })
  .superRefine(refuseIdle)
/** What a fault is added with. */
export type FaultInput = z.input<typeof faultInput>
export type FaultRule = z.infer<typeof faultInput>

/** A rule in force. */
export interface Fault extends FaultRule {
  /** `flt_1`, `flt_2` … in the order in which they were added. */
  id: string
  /** How often it could have struck. */
  seen: number
  /** How often it did. */
  struck: number
}

/**
 * Each effect belongs to replies or to deliveries; a rule with none, or with one of the other kind,
 * would silently do nothing.
 */
function refuseIdle(rule: Record<string, unknown>, context: z.RefinementCtx): void {
  const fitting: object = rule.on === 'delivery' ? deliveryFault : replyFault
  const given = Object.entries(rule).flatMap(([name, value]) => (value === undefined || value === false ? [] : name))
  const places = ['on', 'times', 'probability', 'skip']
  const foreign = given.find((name) => !places.includes(name) && !(name in fitting))
  if (foreign !== undefined)
    context.addIssue({ code: 'custom', path: [foreign], message: `it does nothing on ${String(rule.on)}` })
  else if (given.every((name) => WHEN.has(name)))
    context.addIssue({ code: 'custom', path: ['on'], message: 'the rule says where, but not what goes wrong' })
}
