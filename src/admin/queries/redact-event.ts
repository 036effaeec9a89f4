import { randomBytes } from 'node:crypto'
import type { EventRecord, ServiceEvent } from '../../core/incoming/event.ts'
import { foldBody } from '../../core/service/shapes/fold-body.ts'
import { redactBody } from '../../core/service/shapes/redact-body.ts'
import { emptyShape } from '../../core/service/shapes/shape.ts'
import type { ReadStore } from '../../core/store/store.ts'
import { readTraffic } from './read-traffic.ts'

/** Events of the type that tell which texts are words of an enumeration. */
const LEARNED_FROM = 500

/**
 * An event with other texts of the same form and length, to be shown to others; null without its
 * body. Equal texts stay equal within it, and each call makes other ones.
 */
export async function redactEvent(
  store: Pick<ReadStore, 'searchEvents'>,
  { type, body }: Pick<EventRecord, 'type' | 'body'>,
): Promise<Pick<ServiceEvent, 'type'> & { data: unknown }> {
  const shape = emptyShape()
  for await (const { data } of readTraffic(store, { types: [type], since: 0 })) {
    foldBody(shape, data)
    if (shape.seen === LEARNED_FROM) break
  }
  const data = body === '' ? null : redactBody((JSON.parse(body) as ServiceEvent).data, shape, randomBytes(32))
  return { type, data }
}
