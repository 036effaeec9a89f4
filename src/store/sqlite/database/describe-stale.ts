import { UpshotError } from '../../../core/errors.ts'
import type { Lease } from '../../../core/runs/lease.ts'

/** The refusal of a write under a lease that was raised. */
export function describeStale({ runId }: Pick<Lease, 'runId'>): UpshotError {
  return new UpshotError('stale_lease', `Run ${runId} was canceled or taken over; this worker may not write it.`)
}
