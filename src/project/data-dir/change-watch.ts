import type { ReadStore } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'

/**
 * Poll interval: the first after a change, growing by 5 ms up to the second while nothing changes.
 */
const MIN_MS = 25
const MAX_MS = 50
const STEP_MS = 5

/** Notices writes of other processes within 50 ms. A poll takes no lock and a few microseconds. */
export class ChangeWatch {
  readonly #store: Pick<ReadStore, 'changeCount'>
  readonly #clock: Clock
  readonly #onChange: () => void
  #count: number | null = null
  #pauseMs = MIN_MS
  #polling: Promise<void> = Promise.resolve()
  #cancel = () => {}
  #isStopped = false

  constructor(parts: { store: Pick<ReadStore, 'changeCount'>; clock: Clock; onChange: () => void }) {
    this.#store = parts.store
    this.#clock = parts.clock
    this.#onChange = parts.onChange
  }

  start(): void {
    this.#cancel()
    if (this.#isStopped) return
    this.#cancel = this.#clock.at(this.#clock.now() + this.#pauseMs, () => {
      this.#polling = this.#poll()
    })
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancel()
    await this.#polling
  }

  async #poll(): Promise<void> {
    // A failed read counts as no change: the parts that use the store report its faults.
    const count = await this.#store.changeCount().catch(() => this.#count)
    const isChanged = count !== this.#count
    this.#count = count
    this.#pauseMs = isChanged ? MIN_MS : Math.min(this.#pauseMs + STEP_MS, MAX_MS)
    if (isChanged && !this.#isStopped) this.#onChange()
    this.start()
  }
}
