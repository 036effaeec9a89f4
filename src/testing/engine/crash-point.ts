import type { AnyWorkflow } from '../../author/workflow.ts'
import type { Store } from '../../core/store/store.ts'

/** The engine dies before a write, after it, or in the middle of a step's function. */
export type CrashFate = 'lost' | 'kept' | 'cut'

/** Counts the moments of a scenario at which the engine may die, and kills it at one of them. */
export class CrashPoint {
  /** Journal writes in order, over all lives of the engine. */
  readonly writes: string[] = []
  /** Step functions that had something to await, in order, over all lives. */
  readonly middles: string[] = []
  /** The moment at which the engine died; null before. */
  killedAt: string | null = null
  /** Called once, when the engine dies. */
  onKill = () => {}
  readonly #at: number
  readonly #fate: CrashFate

  /** `at` counts from 1, among writes or middles; 0 never kills. */
  constructor(at: number, fate: CrashFate) {
    this.#at = at
    this.#fate = fate
  }

  /** True where the engine dies while this step's function waits. */
  decideCut(step: string): boolean {
    this.middles.push(step)
    if (this.#fate !== 'cut' || this.middles.length !== this.#at) return false
    this.#kill(`the middle of step "${step}"`)
    return true
  }

  decideFate(write: string): Exclude<CrashFate, 'cut'> | 'no crash' {
    this.writes.push(write)
    if (this.#fate === 'cut' || this.writes.length !== this.#at) return 'no crash'
    this.#kill(write)
    return this.#fate
  }

  #kill(at: string): void {
    this.killedAt = at
    this.onKill()
  }
}

export interface PlannedCrash {
  crash?: CrashPoint
  /** The code after the crash. */
  deploy?: readonly AnyWorkflow[] | undefined
  /** Is given the store of the testbed. */
  onOpen?: (store: Store) => void
}
