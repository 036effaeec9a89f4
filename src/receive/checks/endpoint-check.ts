import { hash } from 'node:crypto'
import { describeError, UpshotError } from '../../core/errors.ts'
import type { Endpoint } from '../../core/incoming/endpoint.ts'
import type { Publish } from '../../core/notices.ts'
import type { Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'

/** Failed endpoints are probed again by a check, at most this often. */
const AGAIN_AFTER_MS = 5_000

interface EndpointCheckParts {
  store: Pick<Store, 'listEndpoints'>
  clock: Clock
  publish: Publish
  /** Rejects with what is wrong with the endpoint. */
  probe: (endpoint: Endpoint) => Promise<void>
}

/**
 * Whether each active endpoint takes a delivery that is signed with its own secret. Probes all of
 * them when one changes, and keeps the result.
 */
export class EndpointCheck {
  readonly #parts: EndpointCheckParts
  #probed: { of: string; at: number; result: Promise<string[]> } | null = null
  #hasFailed = false

  constructor(parts: EndpointCheckParts) {
    this.#parts = parts
  }

  /** Resolves when all endpoints pass; rejects with the messages of those that do not. */
  async check(): Promise<void> {
    const now = this.#parts.clock.now()
    const endpoints = (await this.#parts.store.listEndpoints()).filter(({ status }) => status === 'active')
    const of = fingerprint(endpoints)
    const isDue = this.#hasFailed && Math.abs(now - (this.#probed?.at ?? 0)) >= AGAIN_AFTER_MS
    if (this.#probed?.of !== of || isDue) this.#probed = { of, at: now, result: this.#probeAll(endpoints) }
    const faults = await this.#probed.result
    if (faults.length > 0) throw new UpshotError('invalid_config', faults.join(' '))
  }

  async #probeAll(endpoints: readonly Endpoint[]): Promise<string[]> {
    const results = await Promise.all(endpoints.map((endpoint) => this.#probeOne(endpoint)))
    const faults = results.filter((fault) => fault !== null)
    this.#hasFailed = faults.length > 0
    return faults
  }

  async #probeOne(endpoint: Endpoint): Promise<string | null> {
    try {
      await this.#parts.probe(endpoint)
      return null
    } catch (cause) {
      const error = describeError(cause)
      this.#parts.publish({ kind: 'fault', where: `the self-probe of endpoint "${endpoint.name}"`, error })
      return error.message
    }
  }
}

/** Changes with every property that decides whether a delivery passes. */
function fingerprint(endpoints: readonly Endpoint[]): string {
  return hash('sha256', JSON.stringify(endpoints.map(({ id, path, scheme, secrets }) => [id, path, scheme, secrets])))
}
