import { newId } from '../core/ids.ts'
import type { Capture } from '../core/incoming/delivery.ts'
import type { Endpoint } from '../core/incoming/endpoint.ts'
import type { Publish } from '../core/notices.ts'
import type { Store } from '../core/store/store.ts'
import type { Clock } from '../core/time.ts'
import { type AcceptParts, acceptDelivery, describeReception } from './accept-delivery.ts'

interface CaptureIntakeParts extends AcceptParts {
  store: AcceptParts['store'] & Pick<Store, 'readSetupVersion' | 'listEndpoints' | 'listCaptures' | 'dropCaptures'>
  clock: Clock
  publish: Publish
}

/**
 * Takes in what an endpoint captured while it learned, once its scheme is pinned: the service
 * documents no second try. Captures that do not verify are dropped.
 */
export class CaptureIntake {
  readonly #parts: CaptureIntakeParts
  /** The version of the endpoints whose captures are taken in. */
  #doneFor: number | null = null
  #work: Promise<void> = Promise.resolve()

  constructor(parts: CaptureIntakeParts) {
    this.#parts = parts
  }

  /**
   * Looks at the captures after a change of endpoints or routes. Rejects where one cannot be saved;
   * the next call tries all again.
   */
  takeIn(): Promise<void> {
    this.#work = this.#work.catch(() => {}).then(() => this.#takeAll())
    return this.#work
  }

  async #takeAll(): Promise<void> {
    const { store } = this.#parts
    const setup = await store.readSetupVersion()
    if (setup === this.#doneFor) return
    for (const endpoint of await store.listEndpoints()) {
      if (endpoint.status !== 'active') continue
      const captures = await store.listCaptures(endpoint.id)
      for (const capture of captures) await this.#takeOne(endpoint, capture, setup)
      if (captures.length > 0) await store.dropCaptures(endpoint.id)
    }
    this.#doneFor = setup
  }

  /** Under a new id: the ledger has a row of the capture's own. */
  async #takeOne(endpoint: Endpoint, capture: Capture, setup: number): Promise<void> {
    const { clock, publish } = this.#parts
    const { receivedAt, headers } = capture
    const id = newId('dlv', receivedAt)
    const reception = await acceptDelivery(
      this.#parts,
      { endpoint, setup },
      {
        id,
        receivedAt,
        isProbe: false,
        // Only deliveries of this type are captured, and the header is not kept.
        header: (name) => (name === 'content-type' ? 'application/json' : headers[name]),
        rawHeaders: [],
        body: Buffer.from(capture.body),
      },
    )
    publish(describeReception(id, reception, clock.now() - receivedAt))
  }
}
