import { QueueEstimate } from './queue-estimate.ts'
import { Slots } from './slots.ts'

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
