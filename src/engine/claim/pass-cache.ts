import { getHeapStatistics } from 'node:v8'
import type { AnyWorkflow } from '../../author/workflow.ts'
import type { ClaimedRun } from '../../core/runs/claim.ts'
import type { Clock } from '../../core/time.ts'
import type { Pass } from '../pass/pass.ts'
import type { PassCacheLimits } from '../worker-parts.ts'

interface CachedPass {
  pass: Pass
  workflow: AnyWorkflow
  /** Moves of its code when it parked. */
  moves: number
  until: number
  bytes: number
}

/** Share of the heap above which no pass is cached. */
const MAX_HEAP_SHARE = 0.7
/** Memory of a step beside its result, about. */
const STEP_BYTES = 500

/**
 * Passes that have parked and whose code still waits in memory. The next pass of such a run goes
 * on with it and replays nothing. Losing one at any moment costs a replay. See decision 65.
 */
export class PassCache {
  readonly #clock: Clock
  readonly #limits: Required<PassCacheLimits>
  /** By run id, the longest cached first. */
  readonly #passes = new Map<string, CachedPass>()
  #bytes = 0

  constructor(
    clock: Clock,
    { fromSteps = 32, max = 100, maxBytes = 33_554_432, maxAgeMs = 60_000 }: PassCacheLimits = {},
  ) {
    this.#clock = clock
    this.#limits = { fromSteps, max, maxBytes, maxAgeMs }
  }

  /** Caches a pass that has parked, if another one may go on with its code. */
  add(pass: Pass, workflow: AnyWorkflow): void {
    const { fromSteps, max, maxBytes, maxAgeMs } = this.#limits
    if (max === 0 || pass.journal.begun < fromSteps || !isCacheable(pass)) return
    if (isHeapFull()) {
      this.clear()
      return
    }
    const bytes = pass.journal.givenBytes + pass.journal.begun * STEP_BYTES
    const { runId } = pass.run.lease
    this.#drop(runId)
    this.#passes.set(runId, { pass, workflow, moves: pass.order.moves, until: this.#clock.now() + maxAgeMs, bytes })
    this.#bytes += bytes
    while (this.#passes.size > max || this.#bytes > maxBytes) this.#dropFirst()
  }

  /**
   * The cached pass of a claimed run, made ready for this claim. Undefined where the run, its code
   * or its workflow is not as the pass left it.
   */
  take(run: ClaimedRun, findWorkflow: (id: string) => AnyWorkflow | undefined): Pass | undefined {
    const cached = this.#passes.get(run.lease.runId)
    if (!cached) return undefined
    this.#drop(run.lease.runId)
    const { pass, moves, until } = cached
    const isNext = run.lease.fence === pass.run.lease.fence + 1 && run.attempt === pass.run.attempt
    const isSame =
      findWorkflow(run.workflow) === cached.workflow && moves === pass.order.moves && pass.parking.isResting
    if (!isNext || !isSame || this.#clock.now() >= until) return undefined
    pass.run = run
    pass.journal.goOn(run.lease)
    pass.parking.reopen()
    return pass
  }

  /** Drops the passes that were cached too long ago. */
  dropOld(): void {
    const now = this.#clock.now()
    for (const [runId, { until }] of this.#passes) {
      if (until > now) return
      this.#drop(runId)
    }
  }

  clear(): void {
    this.#passes.clear()
    this.#bytes = 0
  }

  #dropFirst(): void {
    const [runId] = this.#passes.keys()
    if (runId !== undefined) this.#drop(runId)
  }

  #drop(runId: string): void {
    this.#bytes -= this.#passes.get(runId)?.bytes ?? 0
    this.#passes.delete(runId)
  }
}

/** True where its code only waits, and a replay would bring another pass to the same place. */
function isCacheable({ order, journal, parking, abort, isCodeChanged }: Pass): boolean {
  const isDone = order.isEmpty && !journal.hasUnreached && !journal.hasFailed
  return parking.isResting && isDone && !abort.signal.aborted && !isCodeChanged
}

function isHeapFull(): boolean {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics()
  return used > limit * MAX_HEAP_SHARE
}
