import type { Verdict } from '../core/incoming/delivery.ts'
import type { Reception } from './accept-delivery.ts'

/** A reception with the verdict that ledger and log get. */
export type ReportedReception = Omit<Reception, 'verdict'> & { verdict: Verdict }

/** The notice of a delivery that took `ms`. */
export function describeReception(id: string, reception: ReportedReception, ms: number) {
  const { verdict, endpointId, endpointName, event, runs, workflows, facts } = reception
  return {
    kind: 'delivery.received',
    delivery: id,
    endpoint: endpointId,
    endpointName,
    account: event?.account ?? null,
    verdict,
    event: event?.id ?? null,
    type: event?.type ?? null,
    subject: event?.subject ?? null,
    runs,
    workflows,
    facts,
    ms,
  } as const
}
