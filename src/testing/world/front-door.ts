import type { Verdict } from '../../core/incoming/delivery.ts'
import { type Endpoint, planEndpoint } from '../../core/incoming/endpoint.ts'
import type { Route } from '../../core/incoming/route.ts'
import { signBody } from '../../core/incoming/signature.ts'
import type { Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'
import { createNoticeBus } from '../../notices/notice-bus.ts'
import { Receiver } from '../../receive/receiver.ts'

/** How a delivery differs from one of the service. */
export interface DeliverOptions {
  /** Sent in place of a valid signature. Default: a valid one. */
  signature?: string
  /** Headers that replace or, with null, remove those of the service. Default none. */
  headers?: Record<string, string | null>
  /** The URL of a hook, which gets the body unsigned. Default: the testbed's endpoint. */
  to?: string
}

/** The receiver's answer and verdict. */
export interface TestDelivery {
  /** HTTP status. */
  status: number
  verdict: Verdict
  /** Number of runs that it started. */
  runs: number
}

/** The real receiver over HTTP, with one endpoint. */
export class FrontDoor {
  readonly #notices = createNoticeBus()
  readonly #store: Store
  readonly #clock: Clock
  readonly #receiver: Receiver
  #opening: Promise<{ endpoint: Endpoint; url: string }> | null = null
  /** One at a time, so that each hears its own verdict. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(store: Store, clock: Clock, routes: () => readonly Route[]) {
    this.#store = store
    this.#clock = clock
    this.#receiver = new Receiver({ store, intake: store, clock, publish: this.#notices.publish, routes })
  }

  /** Posts a body, signed unless `signature` is given. */
  deliver(body: string | Uint8Array, options: DeliverOptions): Promise<TestDelivery> {
    const delivered = this.#last.then(() => this.#deliver(body, options))
    this.#last = delivered.catch(() => {})
    return delivered
  }

  async #deliver(body: string | Uint8Array, { signature, headers = {}, to }: DeliverOptions): Promise<TestDelivery> {
    this.#opening ??= this.#open()
    const { endpoint, url } = await this.#opening
    const received = this.#notices.once('delivery.received')
    const signed = to === undefined || signature !== undefined ? this.#sign(endpoint, body, signature) : {}
    const given = { 'Content-Type': 'application/json', ...signed, ...headers }
    const sent = Object.entries(given).filter((header): header is [string, string] => header[1] !== null)
    const target = to === undefined ? url : new URL(new URL(to).pathname, url)
    const answer = await fetch(target, { method: 'POST', body: Buffer.from(body), headers: sent })
    await answer.arrayBuffer()
    const { verdict, runs } = await received
    return { status: answer.status, verdict, runs }
  }

  async close(): Promise<void> {
    await this.#opening?.catch(() => {})
    await this.#receiver.stop()
  }

  async #open(): Promise<{ endpoint: Endpoint; url: string }> {
    const endpoint = planEndpoint({ name: 'testbed' }, this.#clock.now())
    await this.#store.addEndpoint(endpoint)
    const origin = await this.#receiver.start({ host: '127.0.0.1', port: 0 })
    return { endpoint, url: `${origin}/hooks/${endpoint.path}` }
  }

  #sign({ scheme, secrets }: Endpoint, body: string | Uint8Array, signature: string | undefined) {
    if (signature !== undefined) return { [scheme.header]: signature }
    return signBody(scheme, secrets[0]?.value ?? '', { id: '', body: Buffer.from(body) }, this.#clock.now())
  }
}
