import type { DeliveryReceipt, IncomingDelivery } from '../core/delivery.ts'
import { type ClaimedRun, listTaken } from '../core/run.ts'
import type { Store } from '../core/store.ts'

/** Deliveries under way into the store whose runs a worker takes in the commit that makes them. */
export class Arrivals {
  readonly #store: Pick<Store, 'saveDelivery'>
  readonly #begin: (run: ClaimedRun) => void
  #expected = 0
  #arrived: ClaimedRun[] = []

  constructor(store: Pick<Store, 'saveDelivery'>, begin: (run: ClaimedRun) => void) {
    this.#store = store
    this.#begin = begin
  }

  /** Runs that may come: each needs a slot. */
  get expected(): number {
    return this.#expected
  }

  save(delivery: IncomingDelivery & { worker: string }): Promise<DeliveryReceipt> {
    const count = delivery.workflows.length
    this.#expected += count
    const saved = this.#store.saveDelivery(delivery)
    saved.then(
      (receipt) => this.#arrive(count, listTaken(delivery, receipt)),
      () => {
        this.#expected -= count
      },
    )
    return saved
  }

  /** All of them were taken, or none. */
  #arrive(count: number, runs: readonly ClaimedRun[]): void {
    if (runs.length === 0) this.#expected -= count
    // A turn later, because whoever delivered is acknowledged first.
    else if (this.#arrived.push(...runs) === runs.length) setImmediate(() => this.#beginAll())
  }

  #beginAll(): void {
    const runs = this.#arrived
    this.#arrived = []
    this.#expected -= runs.length
    for (const run of runs) this.#begin(run)
  }
}
