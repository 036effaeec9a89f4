import { UpshotError } from '../../../core/errors.ts'
import type { Lease } from '../../../core/runs/lease.ts'

/** The refusal of a write under a lease that was raised. */
export function describeStale({ runId }: Pick<Lease, 'runId'>): UpshotError {
  return new UpshotError('stale_lease', `Run ${runId} was canceled or taken over; this worker may not write it.`)
}

/** The refusal of a delivery whose endpoints or routes have changed since it was planned. */
export function describeStalePlan(deliveryId: string): UpshotError {
  const message = `Endpoints or routes changed while delivery ${deliveryId} was read. Plan it again.`
  return new UpshotError('stale_plan', message)
}
