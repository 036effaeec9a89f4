import { MessageChannel, type Transferable, Worker } from 'node:worker_threads'
import type { Config } from '../../../project/config/load-config.ts'
import type { EngineStart } from '../engine-config.ts'

/**
 * MiB of the young generation. With a larger one, V8 would end the process when the heap is full,
 * not the thread.
 */
const YOUNG_MB = 32
const MB = 1_048_576
/** Most bytes of a heap beyond `engine.heapBytes`, until the memory watch has ended its thread. */
const MAX_BEYOND_BYTES = 1_073_741_824
/** Bytes of the process beside the heap of its engine. */
const BESIDE_BYTES = 201_326_592

/** A thread that loads our modules, and waits for its start. */
interface BegunThread {
  worker: Worker
  start(start: EngineStart, transfer: readonly Transferable[]): void
}

let early: BegunThread | null = null

/** Lets the first engine's thread load its modules while this one loads its own. */
export function beginEarly(engine: Config['engine']): void {
  early = beginThread(engine)
  // A start that fails is to end the process.
  early.worker.unref()
}

export function takeThread(engine: Config['engine']): BegunThread {
  const taken = early
  early = null
  if (taken === null || taken.worker.threadId === -1) return beginThread(engine)
  taken.worker.ref()
  return taken
}

/**
 * MiB of the heap at which V8 ends the thread. A call that goes far beyond, such as one `split`
 * of a long text, would end the process. So the heap may grow by what the process has left.
 */
function heapLimitMb({ heapBytes, memoryBytes }: Config['engine']): number {
  const room = Math.min(MAX_BEYOND_BYTES, Math.max(0, memoryBytes - heapBytes - BESIDE_BYTES))
  return Math.ceil((heapBytes + room) / MB)
}

function beginThread(engine: Config['engine']): BegunThread {
  const { port1, port2 } = new MessageChannel()
  // The same ending as this file: source here, JavaScript in the package.
  const worker = new Worker(new URL(import.meta.url.replace(/start\/begin-thread(\.\w+)$/, 'engine-thread-main$1')), {
    workerData: port2,
    transferList: [port2],
    resourceLimits: { maxOldGenerationSizeMb: heapLimitMb(engine), maxYoungGenerationSizeMb: YOUNG_MB },
  })
  port1.unref()
  return {
    worker,
    start(start, transfer) {
      port1.postMessage(start, transfer)
      port1.close()
    },
  }
}
