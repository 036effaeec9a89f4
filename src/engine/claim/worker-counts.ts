import { QueueEstimate } from './queue-estimate.ts'

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

  /** None can be taken any more. */
  close(): void {
    Atomics.sub(this.#cells, FREE, CLOSED)
  }
}
