import type { EventNumber, ServiceEvent } from './event.ts'

/**
 * The result of one HTTP request to an endpoint or a hook, with the status of its answer.
 * `conflict`: a known event id with another body; an alarm, and no run.
 */
export const VERDICTS = {
  accepted: { status: 200 },
  duplicate: { status: 200 },
  conflict: { status: 200 },
  bad_json: { status: 400 },
  /** The body was cut short. */
  incomplete: { status: 408 },
  bad_signature: { status: 401 },
  stale: { status: 401 },
  unknown_endpoint: { status: 401 },
  disabled: { status: 401 },
  /** No hook has this token. */
  unknown_hook: { status: 404 },
  /** The hook has another answer, and takes one only. */
  answered: { status: 409 },
  /** The hook has expired, or its run has ended. */
  closed: { status: 410 },
  /** The data does not fit what the hook asks for. */
  misfit: { status: 422 },
  too_large: { status: 413 },
  wrong_type: { status: 415 },
  /** Other code in this process had read the body: a fault of the set-up. */
  consumed: { status: 500 },
  /** Kept for the scheme solver and not accepted, so that the sender keeps it too. */
  learning: { status: 503 },
  overloaded: { status: 503 },
  /** The store cannot take it now; `reason` says why. */
  unavailable: { status: 503 },
  draining: { status: 503 },
  /** Sent by a command of ours and checked like any other; `facts.answered` is its verdict. */
  probe: { status: 401 },
} as const satisfies Record<string, { status: number }>

export type Verdict = keyof typeof VERDICTS
export type Refusal = Exclude<Verdict, 'accepted' | 'duplicate' | 'conflict'>

/** The verdicts that a sender gets. The ledger writes those of our own probes as `probe`. */
export type Answered = Exclude<Verdict, 'probe'>

/** Facts that explain a verdict; never a secret, a signature or content. */
export interface DeliveryFacts {
  /** Our clock minus the signed timestamp, in seconds. */
  skewSeconds?: number
  /** Position of the secret that matched, from 0. */
  secret?: number
  /** Name of the header that was missing or malformed. */
  header?: string
  reason?: string
  /** The retirement of the secret that signed it, ISO 8601; `reason` is `old_secret`. */
  retiredAt?: string
  /** The verdict on a probe. */
  answered?: Answered
  /** The sender's `traceparent`, of a verified delivery. */
  traceparent?: string
  /** True where no workflow starts on the type of an accepted event. */
  unmatched?: true
  /** True where an endpoint leaves out the type of an event, and no other has delivered it yet. */
  leftOut?: true
  /** The path of a number beyond 2^53 in the event, which JavaScript cannot read exactly. */
  unsafeNumber?: string
  contentType?: string
  /** The hook that the request names: its id, and its run and step. */
  hook?: string
  run?: string
  step?: string
  /** Bytes of the body that were announced, or received before it was refused. */
  contentLength?: number
}

export function answerStatus({ verdict, facts }: { verdict: Verdict; facts: DeliveryFacts }): number {
  return VERDICTS[facts.answered ?? verdict].status
}

/** A verified delivery, ready to be saved. */
export interface IncomingDelivery {
  id: string
  endpointId: string
  account: string
  /** Epoch milliseconds. */
  receivedAt: number
  /** `created` is ISO 8601, as the sender wrote it. */
  event: Pick<ServiceEvent, 'id' | 'type' | 'created'>
  /** The signed bytes as text. */
  body: string
  facts: DeliveryFacts
  /** Ids of the workflows that the event starts. */
  workflows: readonly string[]
  /** `readSetupVersion()` from before endpoint and routes were read; left out: any will do. */
  setup?: number
  /** Priorities of the runs by workflow; 0 where a workflow is missing. */
  priorities?: Readonly<Record<string, number>>
  /**
   * Claims the runs in the same commit, unless a run waits to be claimed or a workflow is paused.
   * See decision 13.
   */
  arrivalClaim?: ArrivalClaim
}

export interface ArrivalClaim {
  worker: string
  /** Hash of the worker's code by workflow. */
  codeHashes: Readonly<Record<string, string>>
}

/** Rows of refusals that the ledger keeps for each verdict. */
export const MAX_REFUSALS = 10_000

/** A refused delivery: the verdict and its reason, without the body. */
export interface RefusedDelivery {
  id: string
  endpointId: string | null
  receivedAt: number
  verdict: Refusal
  /** Bytes that the request announced; null where it announced none. */
  bodyBytes: number | null
  facts: DeliveryFacts
}

/** Refusals with this verdict. `dropped`: those without a row, or whose row newer ones replaced. */
export interface RefusalTally {
  verdict: Refusal
  listed: number
  dropped: number
}

/** Accepted events of a type that no workflow starts on. */
export interface UnmatchedTally {
  type: string
  events: number
  lastAt: number
}

/**
 * An unverified delivery of an endpoint in learning mode, kept to find its signature scheme. It
 * never starts a run, and is encrypted at rest.
 */
export interface Capture {
  id: string
  endpointId: string
  receivedAt: number
  /** Headers that may belong to the signature, by name in lower case. */
  headers: Record<string, string>
  body: Uint8Array
}

/** Captures kept for one endpoint, and their bytes in all; the oldest go first. */
export const CAPTURE_LIMITS = { count: 20, bytes: 2_097_152 } as const

/** The store's answer to a delivery, given only after the commit. */
export interface DeliveryReceipt {
  verdict: 'accepted' | 'duplicate' | 'conflict'
  /** Ids of the new runs, in the order of the delivery's workflows. */
  runs: string[]
  /** True for a duplicate of an event that has no runs yet, for an endpoint left its type out. */
  isLeftOut?: boolean
  /** Number of the event, where the delivery's worker claimed its runs. */
  claimedWithEvent?: EventNumber
  /** Of the leases of those runs; see `Lease`. */
  era?: string
}

/** A row of the delivery ledger: one request, accepted or refused. */
export interface DeliveryRecord {
  id: string
  endpointId: string | null
  receivedAt: number
  verdict: Verdict
  eventId: string | null
  bodyBytes: number | null
  facts: DeliveryFacts
}

/** Selects rows of the ledger; every part narrows. */
export interface DeliveryQuery {
  /** Most rows to return. */
  limit: number
  /** Any of these verdicts. */
  verdicts?: readonly Verdict[]
  endpointId?: string
  /** Received at this moment or later, in epoch milliseconds. */
  since?: number
  /** Older than the delivery with this id: the last one of the page before. */
  before?: string
}
