import { codeHashOf } from '../../author/read-workflow.ts'
import type { ArrivalClaim, DeliveryReceipt, IncomingDelivery } from '../../core/incoming/delivery.ts'
import type { DeliveryIntake } from '../../core/store/store.ts'
import type { WorkerParts } from '../worker-parts.ts'
import type { WorkerCounts } from './worker-counts.ts'

/** A delivery that is committed, and whose runs its worker has claimed. */
interface Arrival {
  delivery: IncomingDelivery
  receipt: DeliveryReceipt
}

/** The deliveries that were committed in one turn. */
export interface Arrivals {
  claimed: Arrival[]
  /** True where runs of other deliveries wait in the queue. */
  hasQueued: boolean
}

interface Parts {
  store: Pick<WorkerParts['store'], 'saveDelivery'>
  counts: Pick<WorkerCounts, 'slots' | 'queue'>
  /** Id and code of the worker that claims. */
  claimFor: (workflows: readonly string[]) => ArrivalClaim
  /** Called a turn after the commits, so that the senders are acknowledged first. */
  arrived: (arrivals: Arrivals) => void
}

/** The claim of a worker that has these workflows, or some of them. */
export function claimFor(
  worker: string,
  workflows: readonly string[],
  findWorkflow: WorkerParts['findWorkflow'],
): ArrivalClaim {
  const codeHashes: Record<string, string> = {}
  for (const id of workflows) {
    const workflow = findWorkflow(id)
    if (workflow) codeHashes[id] = codeHashOf(workflow)
  }
  return { worker, codeHashes }
}

/** Another worker may have the module that this one lacks. See decision 39. */
function hasAll({ codeHashes }: ArrivalClaim, workflows: readonly string[]): boolean {
  return workflows.every((id) => Object.hasOwn(codeHashes, id))
}

/**
 * Saves deliveries for a worker, which may be on another thread. With free slots and an empty
 * queue, the same commit claims their runs for it. See decision 13.
 */
export class ClaimOnArrival implements DeliveryIntake {
  readonly #parts: Parts
  readonly #saving = new Set<Promise<unknown>>()
  #arrivals: Arrivals | null = null

  constructor(parts: Parts) {
    this.#parts = parts
  }

  saveDelivery(delivery: IncomingDelivery): Promise<DeliveryReceipt> {
    const { store, counts, claimFor } = this.#parts
    const count = delivery.workflows.length
    const arrivalClaim = count > 0 && counts.queue.isCleared ? claimFor(delivery.workflows) : null
    const mayClaim = arrivalClaim !== null && hasAll(arrivalClaim, delivery.workflows) && counts.slots.take(count)
    if (!mayClaim) counts.queue.add(count)
    const saving = mayClaim ? { ...delivery, arrivalClaim } : delivery
    const saved = store.saveDelivery(saving)
    this.#saving.add(saved)
    saved.then(
      (receipt) => this.#receive(saved, saving, receipt),
      () => {
        this.#saving.delete(saved)
        if (mayClaim) counts.slots.give(count)
        this.#note().hasQueued = true
      },
    )
    return saved
  }

  /** Resolves when no delivery is being saved. */
  async settled(): Promise<void> {
    while (this.#saving.size > 0) await Promise.allSettled(this.#saving)
    if (this.#arrivals) this.#tell()
  }

  /** The store claims all runs of a delivery or none. */
  #receive(saved: Promise<unknown>, delivery: IncomingDelivery, receipt: DeliveryReceipt): void {
    this.#saving.delete(saved)
    const { slots, queue } = this.#parts.counts
    const arrivals = this.#note()
    const count = delivery.workflows.length
    if (receipt.claimedWithEvent !== undefined) return void arrivals.claimed.push({ delivery, receipt })
    if (delivery.arrivalClaim !== undefined) {
      // Its runs wait in the queue; the slots reserved for them are free again.
      queue.add(receipt.runs.length)
      slots.give(count)
    }
    if (count > 0) arrivals.hasQueued = true
  }

  #note(): Arrivals {
    if (this.#arrivals === null) setImmediate(() => this.#tell())
    this.#arrivals ??= { claimed: [], hasQueued: false }
    return this.#arrivals
  }

  #tell(): void {
    const arrivals = this.#arrivals
    this.#arrivals = null
    if (arrivals) this.#parts.arrived(arrivals)
  }
}
