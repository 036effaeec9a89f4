import type { ServiceEvent } from './event.ts'

/**
 * What became of one HTTP request to an endpoint. `conflict`: a known event id with another body;
 * an alarm, not run.
 */
export const VERDICTS = {
  accepted: { status: 200 },
  duplicate: { status: 200 },
  conflict: { status: 200 },
  bad_json: { status: 400 },
  /** The body never came to its end. */
  incomplete: { status: 408 },
  bad_signature: { status: 401 },
  stale: { status: 401 },
  unknown_endpoint: { status: 401 },
  disabled: { status: 401 },
  too_large: { status: 413 },
  wrong_type: { status: 415 },
  /** Somebody else in this process has read the body: a fault of the set-up. */
  consumed: { status: 500 },
  /** Kept for the scheme solver, not taken: the sender is to keep it, too. */
  learning: { status: 503 },
  overloaded: { status: 503 },
  draining: { status: 503 },
} as const satisfies Record<string, { status: number }>

export type Verdict = keyof typeof VERDICTS
export type Refusal = Exclude<Verdict, 'accepted' | 'duplicate' | 'conflict'>

/** Computed facts of a request that explain its verdict; never a secret, a signature or content. */
export interface DeliveryFacts {
  /** Our clock minus the signed timestamp. */
  skewSeconds?: number
  /** Position of the endpoint's secret that matched. */
  secret?: number
  header?: string
  reason?: string
  contentType?: string
  contentLength?: number
}

/** A verified delivery on its way into the store. */
export interface IncomingDelivery {
  id: string
  endpointId: string
  account: string
  receivedAt: number
  event: Pick<ServiceEvent, 'id' | 'type' | 'created'>
  /** The signed bytes as text. */
  body: string
  facts: DeliveryFacts
  /** Ids of the workflows that the event starts. */
  workflows: readonly string[]
  /** Of their runs, where it is not 0; by workflow. */
  priorities?: Readonly<Record<string, number>>
  /**
   * Takes these runs in the same commit, if no run waits to be claimed and none of the workflows is
   * paused.
   */
  arrivalClaim?: ArrivalClaim
}

/**
 * The worker that is to execute the runs of a delivery, and the hash of the code that it has for
 * each workflow.
 */
export interface ArrivalClaim {
  worker: string
  codeHashes: Readonly<Record<string, string>>
}

/** A refused delivery: the verdict and why, without its body. */
export interface RefusedDelivery {
  id: string
  endpointId: string | null
  receivedAt: number
  verdict: Refusal
  bodyBytes: number | null
  facts: DeliveryFacts
}

/**
 * Refused deliveries of a verdict: rows in the ledger, and those that left none or whose row had to
 * make room.
 */
export interface RefusalTally {
  verdict: Refusal
  listed: number
  dropped: number
}

/**
 * A delivery of an endpoint that learns, kept to find out how it is signed. Nobody has verified it:
 * it is looked at, never run. Sealed at rest.
 */
export interface Capture {
  /** The delivery's. */
  id: string
  endpointId: string
  receivedAt: number
  /** Those that may have to do with the signature, by name in lower case. */
  headers: Record<string, string>
  body: Uint8Array
}

/** What the store keeps of captures for one endpoint; older ones make room. */
export const CAPTURE_LIMITS = { count: 20, bytes: 2_097_152 } as const

/** What the store made of a delivery; given only after the commit. */
export interface DeliveryReceipt {
  verdict: 'accepted' | 'duplicate' | 'conflict'
  /** Ids of the runs that this delivery started, in the order of its workflows. */
  runs: string[]
  /** Where its worker has taken them: the number of their event. */
  claimedWithEvent?: number
}

/** A row of the delivery ledger. */
export interface DeliveryRecord {
  id: string
  endpointId: string | null
  receivedAt: number
  verdict: Verdict
  eventId: string | null
  bodyBytes: number | null
  facts: DeliveryFacts
}

/** Which rows of the ledger. */
export interface DeliveryQuery {
  limit: number
  /** Only with one of these. */
  verdicts?: readonly Verdict[]
  endpointId?: string
  /** Received at this moment or later. */
  since?: number
}
