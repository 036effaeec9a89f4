import type { Publish } from '../../core/notices.ts'
import type { ClaimedRun } from '../../core/runs/claim.ts'
import type { RunOutcome } from '../../core/runs/run.ts'
import type { Clock } from '../../core/time.ts'
import { describeCause, describeNoCode } from '../execute/run-pass.ts'

/** A rolling deployment takes less: until then, a worker with the other code may come. */
const LATE_MS = 10 * 60_000

/** Tells of runs that wait for code which no worker at work has; once until it is loaded. */
export class MissingCode {
  readonly #parts: { clock: Clock; publish: Publish }
  readonly #told = new Set<string>()

  constructor(parts: { clock: Clock; publish: Publish }) {
    this.#parts = parts
  }

  /** A worker claims a run without its module only where no worker at work has it. */
  note(run: ClaimedRun, isLoaded: boolean, outcome: RunOutcome): void {
    if (outcome.kind !== 'parked' && this.#told.size === 0) return
    const { clock, publish } = this.#parts
    const reason = describeNoCode(run, isLoaded)
    if (isLoaded) this.#told.delete(describeNoCode(run, false))
    if (outcome.kind !== 'parked' || outcome.reason !== reason) this.#told.delete(reason)
    else if (!this.#told.has(reason) && (!isLoaded || clock.now() - run.createdAt >= LATE_MS)) {
      this.#told.add(reason)
      const { workflow, cause } = run
      publish({ kind: 'workflow.missing', workflow, ...(isLoaded && { cause: describeCause(cause) }) })
    }
  }
}
