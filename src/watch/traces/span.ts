/** The side of a call that a span is on, as OpenTelemetry numbers it. */
export const SPAN_KINDS = { internal: 0, server: 1, client: 2, producer: 3, consumer: 4 } as const

export interface SpanPlace {
  traceId: string
  spanId: string
}

/** Something that happened within a span, at an epoch millisecond. */
export interface SpanEvent {
  name: string
  at: number
  attributes: Record<string, string | number>
}

/** A finished span. Times are epoch milliseconds. */
export interface Span extends SpanPlace {
  parentId: string | null
  name: string
  kind: keyof typeof SPAN_KINDS
  startedAt: number
  endedAt: number
  attributes: Record<string, string | number>
  /** The reason, where it failed. */
  error: string | null
  links: readonly SpanPlace[]
  /** In the order of time. */
  events: readonly SpanEvent[]
}
