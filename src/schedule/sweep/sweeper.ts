import { describeError } from '../../core/errors.ts'
import type { SweepPlan } from '../../core/service/sweep/sweep-plan.ts'
import { decideHeld } from './decide-held.ts'
import { stepSweep } from './step-sweep.ts'
import type { SweepParts } from './sweep-parts.ts'

/** The longest time between two looks. */
const PERIOD_MS = 10_000

/**
 * Compares storages with events, one request at a time. Of several processes, one sweeps a storage;
 * another goes on where it ended. See decision 77.
 */
export class Sweeper {
  readonly #parts: SweepParts
  readonly #plans: readonly SweepPlan[]
  #cancel = () => {}
  #sweeping: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(plans: readonly SweepPlan[], parts: SweepParts) {
    this.#plans = plans
    this.#parts = parts
  }

  start(): void {
    if (this.#plans.length > 0) this.#sweeping = this.#run()
  }

  /** Resolves when nothing more is sent or written. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancel()
    await this.#sweeping
  }

  async #run(): Promise<void> {
    const { clock } = this.#parts
    let next = clock.now() + PERIOD_MS
    await this.#attempt('asking for approvals of made-up events', () => decideHeld(this.#parts))
    for (const plan of this.#plans) {
      if (this.#isStopped) return
      const where = `sweeping ${plan.storage} of the account ${plan.account}`
      const due = await this.#attempt(where, () => stepSweep(plan, this.#parts))
      next = Math.min(next, due ?? next)
    }
    if (!this.#isStopped) this.#cancel = clock.at(Math.max(next, clock.now() + 1), () => this.start())
  }

  async #attempt<T>(where: string, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work()
    } catch (error) {
      if (!this.#isStopped) this.#parts.publish({ kind: 'fault', where, error: describeError(error) })
      return null
    }
  }
}
