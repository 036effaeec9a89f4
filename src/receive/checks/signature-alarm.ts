import type { DeliveryRecord, Verdict } from '../../core/incoming/delivery.ts'

/** What the watch is told of each delivery. */
export type Sighting = Pick<DeliveryRecord, 'endpointId' | 'verdict' | 'receivedAt'>

/** Signatures fail where they used to hold. */
export interface Suspicion {
  endpoint: string
  failures: number
  lastSuccessAt: number
}

interface Trust {
  lastSuccessAt: number
  /** Moments of the last failures since, oldest first. */
  failures: number[]
  isSuspect: boolean
}

const FAILURES = 5
const WITHIN_MS = 600_000
const SUCCESSES: readonly Verdict[] = ['accepted', 'duplicate', 'conflict']

/**
 * Notices that an endpoint refuses signatures that it used to take: five within ten minutes and no
 * success since the last one. Most often its secret was changed at the service. An endpoint that
 * never had a success is still being set up.
 */
export class SignatureAlarm {
  readonly #endpoints = new Map<string, Trust>()

  /** Gives the suspicion when it arises, once per episode; a success ends the episode. */
  note({ endpointId, verdict, receivedAt }: Sighting): Suspicion | null {
    if (endpointId === null) return null
    const trust = this.#endpoints.get(endpointId)
    if (SUCCESSES.includes(verdict)) this.#trust(endpointId, trust, receivedAt)
    if (trust === undefined || verdict !== 'bad_signature') return null
    trust.failures = [...trust.failures, receivedAt].filter((at) => at > receivedAt - WITHIN_MS).slice(-FAILURES)
    if (trust.isSuspect || trust.failures.length < FAILURES) return null
    trust.isSuspect = true
    return { endpoint: endpointId, failures: FAILURES, lastSuccessAt: trust.lastSuccessAt }
  }

  #trust(endpointId: string, trust: Trust | undefined, at: number): void {
    if (trust === undefined) {
      this.#endpoints.set(endpointId, { lastSuccessAt: at, failures: [], isSuspect: false })
      return
    }
    trust.lastSuccessAt = at
    trust.isSuspect = false
    if (trust.failures.length > 0) trust.failures = []
  }
}
