import { codeHashOf } from '../../author/code-hash.ts'
import type { AnyWorkflow } from '../../author/workflow.ts'
import type { ArrivalClaim, DeliveryReceipt, IncomingDelivery } from '../../core/incoming/delivery.ts'
import { type ClaimedRun, listClaimedOnArrival } from '../../core/runs/claim.ts'
import type { Store } from '../../core/store/store.ts'

interface ArrivalParts {
  store: Pick<Store, 'saveDelivery'>
  /** Its id. */
  worker: string
  findWorkflow: (id: string) => AnyWorkflow | undefined
  begin: (run: ClaimedRun) => void
}

/** Deliveries under way into the store whose runs a worker takes in the commit that makes them. */
export class ClaimOnArrival {
  readonly #parts: ArrivalParts
  #expected = 0
  #arrived: ClaimedRun[] = []

  constructor(parts: ArrivalParts) {
    this.#parts = parts
  }

  /** Runs that may come: each needs a slot. */
  get expected(): number {
    return this.#expected
  }

  save(delivery: IncomingDelivery): Promise<DeliveryReceipt> {
    const count = delivery.workflows.length
    const taken = { ...delivery, arrivalClaim: this.#claimFor(delivery.workflows) }
    this.#expected += count
    const saved = this.#parts.store.saveDelivery(taken)
    saved.then(
      (receipt) => this.#arrive(count, listClaimedOnArrival(taken, receipt)),
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
    for (const run of runs) this.#parts.begin(run)
  }

  #claimFor(workflows: readonly string[]): ArrivalClaim {
    const codeHashes: Record<string, string> = {}
    for (const id of workflows) {
      const workflow = this.#parts.findWorkflow(id)
      if (workflow) codeHashes[id] = codeHashOf(workflow)
    }
    return { worker: this.#parts.worker, codeHashes }
  }
}
