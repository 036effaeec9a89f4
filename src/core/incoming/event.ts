import { z } from 'zod'
import { UpshotError } from '../errors.ts'

/**
 * The body of a delivery (section 2.6 of the service's specification). Unknown fields and unknown
 * types are kept.
 */
const eventBody = z.looseObject({
  id: z
    .string()
    .max(200)
    .regex(/^evt_[\x21-\x7e]+$/, 'must be "evt_" and an opaque word'),
  type: z
    .string()
    .max(100)
    .regex(/^[\w-]+(\.[\w-]+)*$/, 'must be words joined by dots, such as "file.created"'),
  created: z.iso.datetime({ offset: true }),
  data: z.record(z.string(), z.unknown()),
})

/** What the service says happened. */
export interface ServiceEvent<Type extends string = string, Data = Record<string, unknown>> {
  /** `evt_…`; unique within an account. */
  id: string
  type: Type
  /** ISO 8601, as sent. */
  created: string
  data: Data
}

/** An event as an author's code is given it. */
export interface ReceivedEvent<Type extends string = string, Data = Record<string, unknown>>
  extends ServiceEvent<Type, Data> {
  /**
   * True of a `file.deleted` that a delete of this app caused: whoever follows it up would answer
   * to themselves.
   */
  isSelfCaused: boolean
}

/** How an event came to us. */
export type EventOrigin = 'webhook' | 'send' | 'replay'

/** Reads a parsed body; throws `invalid_event` that lists every fault and says where it is. */
export function parseEvent(body: unknown): ServiceEvent {
  const parsed = eventBody.safeParse(body)
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.map((issue) => ({ at: issue.path.join('.') || '(body)', fault: issue.message }))
  throw new UpshotError(
    'invalid_event',
    'The body is not an event of the service: it needs id, type, created and data.',
    {
      details: { faults: faults.slice(0, 10) },
    },
  )
}

/** Type of the events that try an endpoint. */
export const TEST_EVENT = 'upshot.test'

/**
 * Whether an event type falls under a pattern: the type itself, a family such as `file.*`, or `*`.
 * The family `upshot.` is ours and not under `*`: trying an endpoint must not start what acts on
 * everything.
 */
export function matchType(pattern: string, type: string): boolean {
  if (pattern === type) return true
  if (pattern === '*') return !type.startsWith('upshot.')
  return pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1))
}

/** A stored event. */
export interface EventRecord {
  /** Its number in the order of arrival. */
  seq: number
  id: string
  account: string
  type: string
  origin: EventOrigin
  /** When the service made it and when we stored it, epoch milliseconds. */
  createdAt: number
  receivedAt: number
  /** The body as it was signed; empty once retention has pruned it. */
  body: string
}
