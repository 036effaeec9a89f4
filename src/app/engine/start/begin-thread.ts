import { MessageChannel, type Transferable, Worker } from 'node:worker_threads'
import type { Config } from '../../../project/config/load-config.ts'
import type { EngineStart } from '../engine-messages.ts'

/**
 * MiB of the young generation. With a larger one, V8 would end the process when the heap is full,
 * not the thread.
 */
const YOUNG_MB = 32
const MB = 1_048_576

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

function beginThread({ heapBytes }: Config['engine']): BegunThread {
  const { port1, port2 } = new MessageChannel()
  // The same ending as this file: source here, JavaScript in the package.
  const worker = new Worker(new URL(import.meta.url.replace(/start\/begin-thread(\.\w+)$/, 'engine-thread-main$1')), {
    workerData: port2,
    transferList: [port2],
    resourceLimits: { maxOldGenerationSizeMb: Math.ceil(heapBytes / MB), maxYoungGenerationSizeMb: YOUNG_MB },
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
