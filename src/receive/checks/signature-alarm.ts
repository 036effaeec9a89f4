import type { DeliveryRecord, Verdict } from '../../core/incoming/delivery.ts'

type Sighting = Pick<DeliveryRecord, 'endpointId' | 'verdict' | 'receivedAt'>

/** An endpoint whose signatures fail although they used to match. */
interface Suspicion {
  endpoint: string
  failures: number
  lastSuccessAt: number
}

interface Trust {
  lastSuccessAt: number
  /** Moments of the last failures since then, oldest first; at most {@link FAILURES}. */
  failures: number[]
  isSuspect: boolean
}

const FAILURES = 5
const WITHIN_MS = 600_000
const SUCCESSES: readonly Verdict[] = ['accepted', 'duplicate', 'conflict']

/**
 * Detects that an endpoint's secret may have changed at the service: five bad signatures within ten
 * minutes, without a success. An endpoint that never had a success is ignored.
 */
export class SignatureAlarm {
  readonly #endpoints = new Map<string, Trust>()

  /** Returns a suspicion once per episode; a success ends the episode. */
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
