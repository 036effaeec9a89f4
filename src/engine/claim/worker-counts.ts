const CELLS = { slots: 1, queue: 2, claims: 1 } as const
const BYTES = Int32Array.BYTES_PER_ELEMENT

/** The counts that a worker shares with the thread that saves deliveries. */
export class WorkerCounts {
  readonly memory: SharedArrayBuffer
  readonly slots: Slots
  readonly queue: QueueEstimate
  readonly #claims: Int32Array<ArrayBufferLike>

  /** `memory`: of the counts made on the other thread. */
  constructor(memory = new SharedArrayBuffer((CELLS.slots + CELLS.queue + CELLS.claims) * BYTES)) {
    this.memory = memory
    this.slots = new Slots(new Int32Array(memory, 0, CELLS.slots))
    this.queue = new QueueEstimate(new Int32Array(memory, CELLS.slots * BYTES, CELLS.queue))
    this.#claims = new Int32Array(memory, (CELLS.slots + CELLS.queue) * BYTES, CELLS.claims)
  }

  /** A number that changes with each run that the worker claims. */
  get claims(): number {
    return Atomics.load(this.#claims, 0)
  }

  noteClaim(): void {
    Atomics.add(this.#claims, 0, 1)
  }
}

const FREE = 0

/** No worker has as many slots. */
const CLOSED = 1 << 24

/**
 * The free slots of a worker. Claims and deliveries take them first and give back the unused ones.
 * Both may count on threads of their own.
 */
export class Slots {
  readonly #cells: Int32Array<ArrayBufferLike>

  /** `cells`: one count, in memory that both threads share. */
  constructor(cells: Int32Array<ArrayBufferLike> = new Int32Array(1)) {
    this.#cells = cells
  }

  /** Zero or less once they are closed, and before any were given. */
  get free(): number {
    return Atomics.load(this.#cells, FREE)
  }

  /** Takes `count` slots; false, and none is taken, where fewer are free. */
  take(count: number): boolean {
    for (;;) {
      const free = this.free
      if (free < count) return false
      if (Atomics.compareExchange(this.#cells, FREE, free, free - count) === free) return true
    }
  }

  /** Takes all free slots and returns their number. */
  takeAll(): number {
    for (;;) {
      const { free } = this
      if (free <= 0) return 0
      if (this.take(free)) return free
    }
  }

  give(count: number): void {
    Atomics.add(this.#cells, FREE, count)
  }

  /** Takes slots, also those that get free later. */
  hold(count: number): void {
    Atomics.sub(this.#cells, FREE, count)
  }

  /** None can be taken any more. */
  close(): void {
    this.hold(CLOSED)
  }
}

/** A claim asks for this many more runs than estimated: other processes enqueue, too. */
const SPARE = 8

const LENGTH = 0
const ASKED = 1

/**
 * One worker's estimate of how many runs wait in the queue. It decides how many runs a claim asks
 * for, and whether a delivery may be claimed on arrival. Deliveries may be added on another thread.
 */
export class QueueEstimate {
  readonly #cells: Int32Array<ArrayBufferLike>
  /** The estimate when the claim under way began. */
  #lengthAtAsk = 0

  /** `cells`: two counts, in memory that both threads share. */
  constructor(cells: Int32Array<ArrayBufferLike> = new Int32Array(2)) {
    this.#cells = cells
  }

  /** Slots reserved for the claim under way. */
  get asked(): number {
    return Atomics.load(this.#cells, ASKED)
  }

  /** True when no run waits, or the claim under way covers all that do. */
  get isCleared(): boolean {
    return this.#length <= this.asked
  }

  get #length(): number {
    return Atomics.load(this.#cells, LENGTH)
  }

  add(runs: number): void {
    Atomics.add(this.#cells, LENGTH, runs)
  }

  /**
   * How many runs to claim with `free` slots. `isShared`: deliveries are arriving; slots that no
   * queued run needs are kept for them.
   */
  ask(free: number, isShared: boolean): number {
    const spare = Math.min(SPARE, Math.ceil(free / 2))
    this.#lengthAtAsk = this.#length
    const asked = isShared ? Math.min(free, this.#lengthAtAsk + spare) : free
    Atomics.store(this.#cells, ASKED, asked)
    return asked
  }

  /**
   * Fewer runs than asked for: the queue is empty. More than estimated: the estimate becomes twice
   * the number claimed.
   */
  receive(runs: number): void {
    const length = this.#length
    const rest = Math.max(length - runs, runs > this.#lengthAtAsk ? 2 * runs : 0)
    this.add(runs < this.asked ? -this.#lengthAtAsk : rest - length)
  }

  /** The claim has ended, whether or not it succeeded. */
  release(): void {
    Atomics.store(this.#cells, ASKED, 0)
  }
}
