/**
 * What one receiver takes on at a time. Whatever is over is answered 503, and the sender keeps it.
 */
export interface ReceiveLimits {
  /** Largest body. */
  bodyBytes: number
  /** Bytes of all bodies that are here and not yet committed. */
  bytesInFlight: number
  /** Deliveries whose body is here and that wait for their commit. */
  inFlight: number
  /** Open connections; one more is closed at once. */
  connections: number
  /** Deliveries to one endpoint: so many a second for long, and so many at once. */
  endpointPerSecond: number
  endpointBurst: number
  /** Deliveries from one address, or one IPv6 network of 64 bits. */
  addressPerSecond: number
  addressBurst: number
}

export const DEFAULT_LIMITS: ReceiveLimits = {
  bodyBytes: 1_048_576,
  bytesInFlight: 67_108_864,
  inFlight: 1_000,
  connections: 5_000,
  endpointPerSecond: 20_000,
  endpointBurst: 40_000,
  addressPerSecond: 20_000,
  addressBurst: 40_000,
}
