import type { EventRecord } from '../../../core/incoming/event.ts'
import { parseJson } from '../../../core/json.ts'
import { withIsoTimes } from '../../terminal/format-value.ts'

/** An event for JSON, with the size of its body, which may be large. */
export function describeEvent({ body, ...event }: EventRecord): Record<string, unknown> {
  return { ...withIsoTimes(event), bodyBytes: Buffer.byteLength(body) }
}

/** The body of an event as a value; null once retention has pruned it. */
export function parseBody({ body }: Pick<EventRecord, 'body'>): unknown {
  return body === '' ? null : parseJson(body)
}
