import { UpshotError } from '../../core/errors.ts'
import type { ClaimedRun } from '../../core/runs/claim.ts'
import type { Lease } from '../../core/runs/lease.ts'
import type { Clock } from '../../core/time.ts'
import type { Claim } from '../execute/run-pass.ts'
import { Parking } from '../pass/parking.ts'

/** A pass that a worker has in hand. */
export interface RunningPass {
  fence: number
  parking: Parking
  abort: AbortController
  /** Its outcome is decided; there is nothing to abort any more. */
  isSettling: boolean
  /** Gives its slot back; at its end in any case. */
  leave: () => void
  done: Promise<void>
}

interface Parts {
  /** Takes a run one pass further; must not reject. */
  take: (run: ClaimedRun, claim: Claim, pass: RunningPass) => Promise<void>
  ended: () => void
}

/** The passes that a worker has in hand, by their runs. */
export class ActivePasses {
  readonly #parts: Parts
  readonly #passes = new Map<string, RunningPass>()
  #looks = 0

  constructor(parts: Parts) {
    this.#parts = parts
  }

  get runIds(): string[] {
    return [...this.#passes.keys()]
  }

  /** Passes that only look where a run belongs, and need no slot. */
  get looks(): number {
    return this.#looks
  }

  /** Passes that take a slot each. */
  get inSlots(): number {
    return this.#passes.size - this.#looks
  }

  begin(run: ClaimedRun, claim: Claim): void {
    const { runId, fence } = run.lease
    const look = claim.hasSlot ? 0 : 1
    const leave = () => {
      if (this.#passes.get(runId) !== pass) return
      this.#passes.delete(runId)
      this.#looks -= look
    }
    const control = { parking: new Parking(), abort: new AbortController() }
    const pass: RunningPass = { fence, ...control, isSettling: false, leave, done: Promise.resolve() }
    this.#passes.set(runId, pass)
    this.#looks += look
    pass.done = this.#parts.take(run, claim, pass).finally(() => {
      leave()
      this.#parts.ended()
    })
  }

  /** Ends the pass of a run that is not ours any more. */
  endPass(runId: string): void {
    const pass = this.#passes.get(runId)
    if (!pass || pass.isSettling) return
    pass.abort.abort(new UpshotError('conflict', 'The run was canceled or taken over.'))
    pass.parking.abandon({ kind: 'lost' })
  }

  /** Ends those that began before `listLeases` was asked and are not among the leases. */
  async endLostPasses(listLeases: () => Promise<readonly Pick<Lease, 'runId' | 'fence'>[]>): Promise<void> {
    const atWork = [...this.#passes]
    if (atWork.length === 0) return
    const held = new Map((await listLeases()).map((lease) => [lease.runId, lease.fence]))
    for (const [runId, pass] of atWork) {
      if (this.#passes.get(runId) === pass && held.get(runId) !== pass.fence) this.endPass(runId)
    }
  }

  /**
   * Lets the steps at work finish, ends after `drainMs` what has not, and resolves when none is
   * left.
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
      parking.abandon({ kind: 'lost' })
    }
    await done
  }
}
