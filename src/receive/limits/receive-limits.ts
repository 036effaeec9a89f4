/** The limits of one receiver. A delivery over a limit is answered 503, a large body 413. */
export interface ReceiveLimits {
  /** Maximum size of a body. */
  bodyBytes: number
  /** Total bytes of all bodies that are read and not yet committed. */
  bytesInFlight: number
  /** Deliveries whose body is read and that wait for their commit. */
  inFlight: number
  /** Open connections; one more is closed at once. */
  connections: number
  /** Part of the connections and of the bytes in flight that one address may hold, up to 1. */
  addressShare: number
  /** Bytes of a body that are to arrive each second, after a grace of two. */
  bodyBytesPerSecond: number
  /** Deliveries to one endpoint: sustained rate. */
  endpointPerSecond: number
  /** Deliveries to one endpoint: how many at once. */
  endpointBurst: number
  /** Deliveries from one IPv4 address or one IPv6 /64 network: sustained rate. */
  addressPerSecond: number
  /** Deliveries from one address or network: how many at once. */
  addressBurst: number
}

export const DEFAULT_LIMITS: ReceiveLimits = {
  bodyBytes: 1_048_576,
  bytesInFlight: 67_108_864,
  inFlight: 1_000,
  connections: 5_000,
  addressShare: 0.5,
  bodyBytesPerSecond: 4_096,
  endpointPerSecond: 20_000,
  endpointBurst: 40_000,
  addressPerSecond: 20_000,
  addressBurst: 40_000,
}
