import type { StoreWatch } from '../../../core/store/store.ts'
import type { Clock } from '../../../core/time.ts'

/**
 * Poll interval: the first after a change, growing by 5 ms up to the second while nothing changes.
 */
const MIN_MS = 25
const MAX_MS = 50
const STEP_MS = 5

interface WatchParts {
  /** A number that differs after any write, of this process or another. */
  count: () => number
  clock: Clock
  onChange: () => void
}

/** Notices writes of any process within 50 ms. A poll takes no lock and a few microseconds. */
export class ChangeWatch implements StoreWatch {
  readonly #parts: WatchParts
  #count: number | null = null
  #pauseMs = MIN_MS
  #cancel = () => {}

  constructor(parts: WatchParts) {
    this.#parts = parts
    this.#wait()
  }

  stop(): void {
    this.#cancel()
  }

  #wait(): void {
    const { clock } = this.#parts
    this.#cancel = clock.at(clock.now() + this.#pauseMs, () => this.#poll())
  }

  #poll(): void {
    const count = this.#read()
    const isChanged = count !== this.#count
    this.#count = count
    this.#pauseMs = isChanged ? MIN_MS : Math.min(this.#pauseMs + STEP_MS, MAX_MS)
    this.#wait()
    if (isChanged) this.#parts.onChange()
  }

  /** A failed read counts as no change: the parts that use the store report its faults. */
  #read(): number | null {
    try {
      return this.#parts.count()
    } catch {
      return this.#count
    }
  }
}
