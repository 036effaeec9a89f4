import type { DeliveryRecord, Verdict } from '../../../core/incoming/delivery.ts'

export interface DeliveryRow {
  id: string
  endpoint_id: string | null
  received_at: number
  verdict: Verdict
  event_id: string | null
  event_seq: number | null
  body_bytes: number | null
  facts: string
}

export function readDelivery(row: DeliveryRow): DeliveryRecord {
  return {
    id: row.id,
    endpointId: row.endpoint_id,
    receivedAt: row.received_at,
    verdict: row.verdict,
    eventId: row.event_id,
    bodyBytes: row.body_bytes,
    facts: JSON.parse(row.facts),
  }
}
