import type { Command } from '@commander-js/extra-typings'
import { type DeliveryRecord, VERDICTS } from '../../core/delivery.ts'
import { systemClock } from '../../core/time.ts'
import { formatBytes, formatMoment, withIsoTimes } from '../format-value.ts'
import type { Output, Style } from '../output.ts'
import { countUpTo } from '../parse-option.ts'
import { withStore } from '../project.ts'
import { type Column, formatTable } from '../table.ts'

/** A delivery with the name of its endpoint; null when it reached none. */
type NamedDelivery = DeliveryRecord & { endpoint: string | null }

/** `upshot deliveries list`: newest first. */
export function define(command: Command, out: Output): void {
  command.option('--limit <n>', 'how many', countUpTo(10_000), 20).action(({ limit }) =>
    withStore(async (store) => {
      const names = new Map((await store.listEndpoints()).map(({ id, name }) => [id, name]))
      const deliveries = (await store.listDeliveries({ limit })).map(
        (delivery): NamedDelivery => ({ ...delivery, endpoint: names.get(delivery.endpointId ?? '') ?? null }),
      )
      out.result(deliveries.map(withIsoTimes), () => formatTable(deliveries, columns(systemClock.now()), out.paint))
      if (deliveries.length === 0) {
        out.note(
          'No delivery yet. Register the address of "upshot endpoints list" at the service, or use "upshot trigger".',
        )
      }
    }),
  )
}

function columns(now: number): Column<NamedDelivery>[] {
  return [
    { title: 'DELIVERY', value: ({ id }) => id },
    { title: 'RECEIVED', value: ({ receivedAt }) => formatMoment(receivedAt, now) },
    { title: 'ENDPOINT', value: ({ endpoint }) => endpoint },
    { title: 'VERDICT', value: ({ verdict }) => verdict, style: styleVerdict },
    { title: 'EVENT', value: ({ eventId }) => eventId, most: 60 },
    { title: 'SIZE', value: ({ bodyBytes }) => formatBytes(bodyBytes), align: 'right' },
    { title: 'WHY', value: describeRefusal, most: 80 },
  ]
}

function styleVerdict({ verdict }: DeliveryRecord): Style | null {
  if (verdict === 'accepted') return 'green'
  if (verdict === 'duplicate') return null
  return verdict === 'conflict' || VERDICTS[verdict].status === 503 ? 'yellow' : 'red'
}

/** What explains a refusal, in a few words; null where there is nothing to explain. */
function describeRefusal({ verdict, facts }: DeliveryRecord): string | null {
  if (verdict === 'accepted' || verdict === 'duplicate') return null
  const { reason, header, skewSeconds, contentType, contentLength } = facts
  const parts = [
    reason,
    header,
    contentType,
    contentLength === undefined ? undefined : formatBytes(contentLength),
    skewSeconds === undefined ? undefined : `signed ${Math.abs(skewSeconds)} s ${skewSeconds < 0 ? 'ahead' : 'ago'}`,
  ].filter((part) => part !== undefined)
  return parts.length === 0 ? null : parts.join(', ')
}
