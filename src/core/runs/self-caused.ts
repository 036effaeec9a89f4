import { z } from 'zod'
import type { EventRecord, ServiceEvent } from '../incoming/event.ts'
import { type Checkpoint, LEFT_ALONE } from './step.ts'

/** A deletion up to this long after our own delete of the file counts as ours. */
const SELF_CAUSED_MS = 10 * 60_000

/** Errors of the Files client that prove that the service refused the delete. */
const REFUSED = [
  'AuthenticationError',
  'InvalidRequestError',
  'LocalRateLimitError',
  'NotFoundError',
  'PermissionError',
  'RateLimitError',
]

/**
 * Whether one of our deletes of the file caused an event; `open` while one is under way. A delete
 * without a known end counts as the cause after ten minutes.
 */
export function decideSelfCaused(
  event: Pick<EventRecord, 'createdAt' | 'receivedAt'>,
  deletes: readonly Checkpoint[],
  now: number,
): 'yes' | 'no' | 'open' {
  // The service's clock may be ahead of ours, and a delivery may be hours late.
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
 * The file that a `file.deleted` names; null for other events. The storage is spelled as the
 * service spells it.
 */
export function parseDeletion({ type, data }: ServiceEvent): { service: string; id: string } | null {
  const parsed = type === 'file.deleted' ? deletedFile.safeParse(data).data : undefined
  const service = parsed?.service ?? parsed?.file.service
  return parsed && service !== undefined ? { service, id: parsed.file.id } : null
}
