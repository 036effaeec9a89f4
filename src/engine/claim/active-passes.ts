import { UpshotError } from '../../core/errors.ts'
import type { ClaimedRun } from '../../core/runs/claim.ts'
import type { Lease } from '../../core/runs/lease.ts'
import type { Clock } from '../../core/time.ts'
import type { Claim } from '../execute/run-pass.ts'
import type { OwnWorkItem } from '../pass/own-work.ts'
import { Parking } from '../pass/parking.ts'
import { WaitHints } from '../pass/wait-hints.ts'

/** A pass that a worker is executing. */
export interface RunningPass {
  fence: number
  parking: Parking
  abort: AbortController
  /** True once its outcome is decided: it cannot be ended any more. */
  isSettling: boolean
  /** May be called early; the end of the pass calls it in any case. */
  releaseSlot: () => void
  done: Promise<void>
}

interface Parts {
  clock: Clock
  /** Executes one pass; must not reject. */
  execute: (run: ClaimedRun, claim: Claim, pass: RunningPass) => Promise<void>
  /** Tells work outside steps that a pass does not wait for, and timers of the code's own. */
  tellPending: (run: ClaimedRun, item: OwnWorkItem) => void
  tellTimer?: ((run: ClaimedRun, item: OwnWorkItem) => void) | undefined
  /** Called when a pass gives its slot back. */
  slotFreed: () => void
  /** Called after each pass. */
  ended: () => void
}

/** The passes that a worker is executing, by run id. */
export class ActivePasses {
  readonly #parts: Parts
  readonly #passes = new Map<string, RunningPass>()
  readonly #hints = new WaitHints()
  #admissionPasses = 0

  constructor(parts: Parts) {
    this.#parts = parts
  }

  get runIds(): string[] {
    return [...this.#passes.keys()]
  }

  /** Number of passes without a slot: they admit their run and execute none of its code. */
  get admissionPasses(): number {
    return this.#admissionPasses
  }

  begin(run: ClaimedRun, claim: Claim): void {
    const { runId, fence } = run.lease
    const admissionPasses = claim.hasSlot ? 0 : 1
    const releaseSlot = () => {
      if (this.#passes.get(runId) !== pass) return
      this.#passes.delete(runId)
      this.#admissionPasses -= admissionPasses
      if (claim.hasSlot) this.#parts.slotFreed()
    }
    const control = {
      parking: this.#openParking(run),
      abort: new AbortController(),
    }
    const pass: RunningPass = { fence, ...control, isSettling: false, releaseSlot, done: Promise.resolve() }
    this.#passes.set(runId, pass)
    this.#admissionPasses += admissionPasses
    pass.done = this.#parts.execute(run, claim, pass).finally(() => {
      releaseSlot()
      this.#parts.ended()
    })
  }

  #openParking(run: ClaimedRun): Parking {
    const { clock, tellPending, tellTimer } = this.#parts
    return new Parking({
      clock,
      hints: this.#hints,
      tellPending: (item) => tellPending(run, item),
      tellTimer: tellTimer && ((item) => tellTimer(run, item)),
    })
  }

  /** A hint that an event or a run has ended: steps that wait for one beside others may go on. */
  hintWaits(): void {
    this.#hints.hint()
  }

  /** Ends the pass of a run that was canceled or taken over; does nothing where there is none. */
  endPass(runId: string): void {
    const pass = this.#passes.get(runId)
    if (!pass || pass.isSettling) return
    pass.abort.abort(new UpshotError('conflict', 'The run was canceled or taken over.'))
    pass.parking.endPass({ kind: 'lost' })
  }

  /** Ends the passes that began before `listLeases` was called and have no lease in its answer. */
  async endLostPasses(listLeases: () => Promise<readonly Pick<Lease, 'runId' | 'fence'>[]>): Promise<void> {
    const before = [...this.#passes]
    if (before.length === 0) return
    const fences = new Map((await listLeases()).map((lease) => [lease.runId, lease.fence]))
    for (const [runId, pass] of before) {
      if (this.#passes.get(runId) === pass && fences.get(runId) !== pass.fence) this.endPass(runId)
    }
  }

  /**
   * Lets the steps at work finish and ends the passes that take longer than `drainMs`. Resolves
   * when no pass is left.
   */
  async drain(clock: Clock, drainMs: number): Promise<void> {
    const passes = [...this.#passes.values()]
    for (const { parking } of passes) parking.drain()
    const done = Promise.all(passes.map((pass) => pass.done))
    const late = Promise.withResolvers<void>()
    const cancel = clock.at(clock.now() + drainMs, late.resolve)
    await Promise.race([done, late.promise])
    cancel()
    for (const { parking, abort } of this.#passes.values()) {
      abort.abort(new UpshotError('draining', 'The process stops.'))
      parking.endPass({ kind: 'lost' })
    }
    await done
  }
}
