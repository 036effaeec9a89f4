import type { AdmissionAnswer, AdmissionPlan } from '../../../core/runs/admission.ts'
import type { ClaimedRun } from '../../../core/runs/claim.ts'
import type { Lease } from '../../../core/runs/lease.ts'
import type { StoreWrites } from '../../../core/store/store.ts'

type LeasedWrite = (lease: Lease, ...args: unknown[]) => Promise<unknown>

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
 * The runs of this process that passed a gate: their ends are a call of their own. A hint only, as
 * the database knows which of them are limited.
 */
export class LimitedRuns {
  readonly #admitted = new Set<string>()
  readonly #freed: () => void

  /** `freed` is called after a write that may have freed a place, and let another run in. */
  constructor(freed: () => void) {
    this.#freed = freed
  }

  /** Notes the claimed runs that are admitted, and gives all of them. */
  note(claimed: ClaimedRun[]): ClaimedRun[] {
    for (const { isAdmitted, lease } of claimed) if (isAdmitted) this.#admitted.add(lease.runId)
    return claimed
  }

  /** True where the run is known as limited. It is forgotten. */
  take({ runId }: Lease): boolean {
    return this.#admitted.delete(runId)
  }

  /** The same write, of which this learns. */
  watch(name: keyof StoreWrites, write: LeasedWrite): LeasedWrite {
    if (name === 'admitRun') {
      return async (lease, ...args) => {
        const answer = (await write(lease, ...args)) as AdmissionAnswer
        const { isOnlyTagged = false } = args[0] as AdmissionPlan
        if (answer.verdict.kind === 'admitted' && !isOnlyTagged) this.#admitted.add(lease.runId)
        return answer
      }
    }
    if (!ENDS.includes(name)) return write
    return async (lease, ...args) => {
      const isLimited = this.take(lease)
      const value = await write(lease, ...args)
      if (isLimited) this.#freed()
      return value
    }
  }
}
