import { codeHashOf } from '../../author/code-hash.ts'
import type { ArrivalClaim, DeliveryReceipt, IncomingDelivery } from '../../core/incoming/delivery.ts'
import { type ClaimedRun, listClaimedOnArrival } from '../../core/runs/claim.ts'
import type { WorkerParts } from '../worker-parts.ts'

interface Parts extends Pick<WorkerParts, 'store' | 'findWorkflow'> {
  /** Id of the worker that claims. */
  worker: string
  begin: (run: ClaimedRun) => void
}

/** Deliveries being saved whose runs this worker claims in the same commit. */
export class ClaimOnArrival {
  readonly #parts: Parts
  #expected = 0
  #claimed: ClaimedRun[] = []

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Number of runs that may still be claimed; each has a slot reserved. */
  get expected(): number {
    return this.#expected
  }

  save(delivery: IncomingDelivery): Promise<DeliveryReceipt> {
    const count = delivery.workflows.length
    const claiming = { ...delivery, arrivalClaim: this.#claimFor(delivery.workflows) }
    this.#expected += count
    const saved = this.#parts.store.saveDelivery(claiming)
    saved.then(
      (receipt) => this.#receive(count, listClaimedOnArrival(claiming, receipt)),
      () => {
        this.#expected -= count
      },
    )
    return saved
  }

  /** The store claims all runs of a delivery or none. */
  #receive(count: number, runs: readonly ClaimedRun[]): void {
    if (runs.length === 0) this.#expected -= count
    // A turn later, so that the sender is acknowledged first.
    else if (this.#claimed.push(...runs) === runs.length) setImmediate(() => this.#beginAll())
  }

  #beginAll(): void {
    const runs = this.#claimed
    this.#claimed = []
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
