import type { AdmissionAnswer, AdmissionPlan } from '../core/runs/admission.ts'
import type { ClaimedRun } from '../core/runs/claim.ts'
import { isStaleLease, type Lease } from '../core/runs/lease.ts'
import type { StoreWrites } from '../core/store/store.ts'

type Write = (...args: unknown[]) => Promise<unknown>

/** Writes after which a run is no longer with this process. */
const ENDS: readonly (keyof StoreWrites)[] = [
  'completeRun',
  'continueRun',
  'endPlanned',
  'failRun',
  'parkRun',
  'postponeRun',
  'releaseRun',
  'skipRun',
]

/**
 * The runs of this process that passed a gate. Others stand in line behind them, so their calls
 * wait for no others. A hint only, as the database knows which runs are limited.
 */
export class LimitedRuns {
  /** The worker of each. */
  readonly #admitted = new Map<string, string>()
  readonly #freed: () => void

  /** `freed` is called after a write that may have freed a slot, and let another run in. */
  constructor(freed = () => {}) {
    this.#freed = freed
  }

  /** Notes the claimed runs that are admitted, and gives all of them. */
  note(claimed: ClaimedRun[]): ClaimedRun[] {
    for (const { isAdmitted, lease } of claimed) if (isAdmitted) this.#admitted.set(lease.runId, lease.worker)
    return claimed
  }

  /** True while it knows of none. */
  get isEmpty(): boolean {
    return this.#admitted.size === 0
  }

  /** True where the run is known as limited. */
  has({ runId }: Pick<Lease, 'runId'>): boolean {
    return this.#admitted.has(runId)
  }

  /** True for a call under the lease of such a run. */
  hasCall([lease]: readonly unknown[]): boolean {
    const { runId } = (lease ?? {}) as Partial<Lease>
    return typeof runId === 'string' && this.#admitted.has(runId)
  }

  /** The same, and it is forgotten. */
  take({ runId }: Pick<Lease, 'runId'>): boolean {
    return this.#admitted.delete(runId)
  }

  /** The same writes, from which this learns. */
  watchAll(writes: StoreWrites): StoreWrites {
    const watched = Object.entries(writes).map(([name, write]) => [name, this.watch(name as keyof StoreWrites, write)])
    return Object.fromEntries(watched)
  }

  /** The same write, of which this learns. */
  watch(name: keyof StoreWrites, write: Write): Write {
    if (name === 'claimRuns') return async (...args) => this.note((await write(...args)) as ClaimedRun[])
    if (name === 'admitRun') {
      return async (lease, ...args) => {
        const answer = (await write(lease, ...args)) as AdmissionAnswer
        const { isOnlyTagged = false } = args[0] as AdmissionPlan
        const { runId, worker } = lease as Lease
        if (answer.verdict.kind === 'admitted' && !isOnlyTagged) this.#admitted.set(runId, worker)
        return answer
      }
    }
    if (name === 'cancelRun') {
      return (runId, ...args) => {
        this.#admitted.delete(runId as string)
        return write(runId, ...args)
      }
    }
    if (name === 'endWorker' || name === 'stopWorker') {
      return (worker, ...args) => {
        for (const [run, of] of this.#admitted) if (of === worker) this.#admitted.delete(run)
        return write(worker, ...args)
      }
    }
    const ends = ENDS.includes(name)
    return (...args) => {
      if (!this.hasCall(args)) return write(...args)
      const lease = args[0] as Lease
      return ends ? this.#end(lease, () => write(...args)) : write(...args).catch((error) => this.#fail(lease, error))
    }
  }

  /** A run that another worker took over, or a person ended, has no last write here. */
  #fail(lease: Lease, error: unknown): never {
    if (isStaleLease(error)) this.take(lease)
    throw error
  }

  async #end(lease: Lease, write: () => Promise<unknown>): Promise<unknown> {
    try {
      const next = await write()
      if (next) this.note([next as ClaimedRun])
      return next
    } finally {
      this.take(lease)
      this.#freed()
    }
  }
}
