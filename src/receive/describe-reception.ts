import type { Reception } from './accept-delivery.ts'

/** The notice of a delivery that took `ms`. */
export function describeReception(id: string, reception: Reception, ms: number) {
  const { verdict, endpointId, event, runs, workflows, facts } = reception
  return {
    kind: 'delivery.received',
    delivery: id,
    endpoint: endpointId,
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
