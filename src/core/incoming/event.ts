import { z } from 'zod'
import { UpshotError } from '../errors.ts'
import type { Checkpoint } from '../runs/step.ts'

/** The body of a delivery (section 2.6 of the service's specification). Unknown fields and unknown types are kept. */
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
  /** True of a `file.deleted` that a delete of this app caused: whoever follows it up would answer to themselves. */
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
 * Whether an event type falls under a pattern: the type itself, a family such as `file.*`, or `*`. The family `upshot.` is
 * ours and not under `*`: trying an endpoint must not start what acts on everything.
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

/** How long after the end of a delete of ours a deletion of the same file is taken for its work. */
const SELF_CAUSED_MS = 10 * 60_000

/** Ends of a delete after which the service has surely not deleted anything for us. */
const LEFT_ALONE = ['not_found', 'changed', 'dry_run']
const REFUSED = [
  'AuthenticationError',
  'InvalidRequestError',
  'LocalRateLimitError',
  'NotFoundError',
  'PermissionError',
  'RateLimitError',
]

/**
 * Whether one of our deletes of the same file caused an event. `open`: one is under way, and how it ends will tell; a delete
 * whose end nobody knows is taken for the cause after ten minutes. `now` in epoch milliseconds.
 */
export function decideSelfCaused(
  event: Pick<EventRecord, 'createdAt' | 'receivedAt'>,
  deletes: readonly Checkpoint[],
  now: number,
): 'yes' | 'no' | 'open' {
  // The service's clock may be ahead of ours, and a delivery late by hours.
  const happenedAt = Math.min(event.createdAt, event.receivedAt)
  const verdicts = deletes
    .filter(({ startedAt }) => startedAt <= event.receivedAt)
    .filter(({ finishedAt }) => finishedAt === null || finishedAt + SELF_CAUSED_MS >= happenedAt)
    .map((step) => {
      if (step.status === 'waiting' || step.status === 'started')
        return now < event.receivedAt + SELF_CAUSED_MS ? 'open' : 'yes'
      return didDelete(step) ? 'yes' : 'no'
    })
  return verdicts.find((verdict) => verdict === 'yes') ?? verdicts.find((verdict) => verdict === 'open') ?? 'no'
}

function didDelete({ status, output, error }: Checkpoint): boolean {
  if (status === 'failed') return !REFUSED.includes(error?.name ?? '')
  const result: unknown = JSON.parse(output ?? 'null')
  const isTyped = typeof result === 'object' && result !== null && 'outcome' in result
  return !(isTyped && LEFT_ALONE.includes(String(result.outcome)))
}

const deletedFile = z.object({
  service: z.string().optional(),
  file: z.object({ id: z.string(), service: z.string().optional() }),
})

/** Which file an event says was deleted; null for any other event. The storage is spelled as the service does. */
export function parseDeletion({ type, data }: ServiceEvent): { service: string; id: string } | null {
  const parsed = type === 'file.deleted' ? deletedFile.safeParse(data).data : undefined
  const service = parsed?.service ?? parsed?.file.service
  return parsed && service !== undefined ? { service, id: parsed.file.id } : null
}
