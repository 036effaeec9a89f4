import type { DeliveryReceipt, IncomingDelivery } from '../core/delivery.ts'
import { type ClaimedRun, listTaken } from '../core/run.ts'
import type { Store } from '../core/store.ts'

/** Deliveries under way into the store whose runs a worker takes in the commit that makes them. */
export class Arrivals {
  readonly #store: Pick<Store, 'saveDelivery'>
  readonly #begin: (run: ClaimedRun) => void
  #expected = 0
  #arrived: ClaimedRun[] = []
  #settled: PromiseWithResolvers<void> | null = null

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
      () => this.#release(count),
    )
    return saved
  }

  /** Resolves when none is under way any more. */
  async settled(): Promise<void> {
    if (this.#expected === 0) return
    this.#settled ??= Promise.withResolvers()
    await this.#settled.promise
  }

  /** All of them were taken, or none. */
  #arrive(count: number, runs: readonly ClaimedRun[]): void {
    if (runs.length === 0) {
      this.#release(count)
      return
    }
    // A turn later, because whoever delivered is acknowledged first.
    if (this.#arrived.length === 0) setImmediate(() => this.#beginAll())
    this.#arrived.push(...runs)
  }

  #beginAll(): void {
    const runs = this.#arrived
    this.#arrived = []
    for (const run of runs) this.#begin(run)
    this.#release(runs.length)
  }

  #release(count: number): void {
    this.#expected -= count
    if (this.#expected === 0) this.#settled?.resolve()
  }
}
