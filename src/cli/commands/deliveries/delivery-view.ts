import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { VERDICTS, type Verdict } from '../../../core/incoming/delivery.ts'
import { formatBytes, formatMoment } from '../../terminal/format-value.ts'
import type { Style } from '../../terminal/output.ts'
import type { Column } from '../../terminal/table.ts'

type ShownDelivery = AnswerOf<'GET /deliveries'>['items'][number]

export const DELIVERY_COLUMNS: Column<ShownDelivery>[] = [
  { title: 'DELIVERY', value: ({ id }) => id, isId: true },
  { title: 'RECEIVED', value: ({ receivedAt }) => formatMoment(receivedAt), cut: 'never' },
  { title: 'ENDPOINT', value: nameEndpoint, isMinor: true },
  {
    title: 'VERDICT',
    value: ({ verdict }) => verdict,
    cut: 'never',
    style: ({ verdict }) => styleVerdict(verdict),
  },
  { title: 'EVENT', value: ({ eventId }) => eventId, most: 60, least: 12, isId: true, isMinor: true },
  { title: 'SIZE', value: ({ bodyBytes }) => formatBytes(bodyBytes), align: 'right', isMinor: true },
  { title: 'WHY', value: describeRefusal, most: 80, least: 24 },
]

function nameEndpoint({ endpoint, isEndpointRemoved }: ShownDelivery): string | null {
  return isEndpointRemoved ? `${endpoint} (removed)` : endpoint
}

/** The color of a verdict: yellow for a conflict or a temporary refusal, red for other refusals. */
export function styleVerdict(verdict: Verdict): Style | null {
  if (verdict === 'accepted') return 'green'
  if (verdict === 'duplicate' || verdict === 'probe') return null
  return verdict === 'conflict' || VERDICTS[verdict].status === 503 ? 'yellow' : 'red'
}

/** The reason of a refusal in a few words; null for an accepted or repeated delivery. */
export function describeRefusal({ verdict, facts }: Pick<ShownDelivery, 'verdict' | 'facts'>): string | null {
  if (verdict === 'accepted' || verdict === 'duplicate') return null
  const { answered, reason, retiredAt, header, skewSeconds, contentType, contentLength } = facts
  const parts = [
    answered === undefined ? undefined : `of our own, answered as ${answered}`,
    retiredAt === undefined ? reason : `signed with a secret that was retired on ${retiredAt.slice(0, 10)}`,
    header,
    contentType,
    contentLength === undefined ? undefined : formatBytes(contentLength),
    skewSeconds === undefined ? undefined : `signed ${Math.abs(skewSeconds)} s ${skewSeconds < 0 ? 'ahead' : 'ago'}`,
  ].filter((part) => part !== undefined)
  return parts.length === 0 ? null : parts.join(', ')
}
