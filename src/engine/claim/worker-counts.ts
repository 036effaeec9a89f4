import { QueueEstimate } from './queue-estimate.ts'
import { Slots } from './slots.ts'

const CELLS = { slots: 1, queue: 2 } as const

/** The counts that a worker shares with the thread that saves deliveries. */
export class WorkerCounts {
  readonly memory: SharedArrayBuffer
  readonly slots: Slots
  readonly queue: QueueEstimate

  /** `memory`: of the counts made on the other thread. */
  constructor(memory = new SharedArrayBuffer((CELLS.slots + CELLS.queue) * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.slots = new Slots(new Int32Array(memory, 0, CELLS.slots))
    this.queue = new QueueEstimate(new Int32Array(memory, CELLS.slots * Int32Array.BYTES_PER_ELEMENT, CELLS.queue))
  }
}
