import { z } from 'zod'
import type { EventRecord, ServiceEvent } from '../incoming/event.ts'
import type { Checkpoint } from './step.ts'

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
 * Whether one of our deletes of the same file caused an event. `open`: one is under way, and how it
 * ends will tell; a delete whose end nobody knows is taken for the cause after ten minutes. `now`
 * in epoch milliseconds.
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

/**
 * Which file an event says was deleted; null for any other event. The storage is spelled as the
 * service does.
 */
export function parseDeletion({ type, data }: ServiceEvent): { service: string; id: string } | null {
  const parsed = type === 'file.deleted' ? deletedFile.safeParse(data).data : undefined
  const service = parsed?.service ?? parsed?.file.service
  return parsed && service !== undefined ? { service, id: parsed.file.id } : null
}
