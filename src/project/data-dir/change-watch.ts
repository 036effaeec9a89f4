import type { ReadStore } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'

/**
 * While something happens it is looked this often, and ever less often, down to the second figure,
 * while nothing does.
 */
const MIN_MS = 25
const MAX_MS = 50

/**
 * Notices what other processes write to the store, within 50 ms. A look costs a few microseconds
 * and no lock.
 */
export class ChangeWatch {
  readonly #store: Pick<ReadStore, 'changeCount'>
  readonly #clock: Clock
  readonly #onChange: () => void
  #count: number | null = null
  #pauseMs = MIN_MS
  #looking: Promise<void> = Promise.resolve()
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
      this.#looking = this.#look()
    })
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancel()
    await this.#looking
  }

  async #look(): Promise<void> {
    // A store that cannot be read now is asked again; whoever needs it reports the fault.
    const count = await this.#store.changeCount().catch(() => this.#count)
    const isChanged = count !== this.#count
    this.#count = count
    this.#pauseMs = isChanged ? MIN_MS : Math.min(this.#pauseMs + 5, MAX_MS)
    if (isChanged && !this.#isStopped) this.#onChange()
    this.start()
  }
}
