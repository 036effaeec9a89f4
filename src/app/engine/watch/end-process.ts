import { setTimeout as sleep } from 'node:timers/promises'
import type { Publish } from '../../../core/notices.ts'

/** Longest time for a last write: memory may grow meanwhile, or the database be away. */
const LAST_WRITE_MS = 5_000
/** For the log, and for answers on their way. */
const LAST_WORDS_MS = 250

/** Threads that native code keeps beyond their end, beside which another engine begins. */
const MAX_KEPT = 2

/** Longest time that a thread with a full heap may take to end. */
const FULL_END_MS = 10_000
const LOOK_MS = 100

interface MaybeGone {
  readonly isGone: boolean
}

/** Threads that native code keeps beyond their end, and that no process ends for. */
export class KeptThreads {
  #threads: MaybeGone[] = []

  get isAny(): boolean {
    return this.#threads.some(({ isGone }) => !isGone)
  }

  /** Leaves one more to itself, and says so; false where that is one too many. */
  leave(thread: MaybeGone, publish: Publish): boolean {
    const kept = [...this.#threads.filter(({ isGone }) => !isGone), thread]
    if (kept.length > MAX_KEPT) return false
    this.#threads = kept
    reportKept(publish, true)
    return true
  }
}

/**
 * Waits until a thread with a full heap has ended, as long as the process is within `memoryBytes`.
 * V8 takes seconds to give back a gigabyte, and nothing interrupts some calls. To end the process
 * instead would break off its deliveries.
 */
export async function awaitFull(thread: MaybeGone, memoryBytes: number): Promise<void> {
  for (let ms = 0; ms < FULL_END_MS && !thread.isGone && process.memoryUsage.rss() <= memoryBytes; ms += LOOK_MS) {
    await sleep(LOOK_MS)
  }
}

/**
 * Ends this process once `written` resolves, or after 5 s. Nothing else ends a thread that native
 * code keeps, or frees its memory and its core.
 */
export async function endProcess(publish: Publish, written: Promise<void>): Promise<never> {
  await Promise.race([written, sleep(LAST_WRITE_MS)])
  reportKept(publish)
  await sleep(LAST_WORDS_MS)
  return killProcess()
}

/** Native code keeps a thread beyond its end, and this process `goesOn`, or ends by a signal. */
export function reportKept(publish: Publish, goesOn = false): void {
  const so = goesOn ? 'Another engine begins beside it.' : `So process ${process.pid} ends itself by SIGKILL.`
  const message =
    'The thread of an engine that has ended is still there: ' +
    `native code of a workflow keeps it, or the machine is busy. ${so} ` +
    'Give native work to a process of its own, or to calls that take less time.'
  publish({ kind: 'fault', where: 'ending an engine', error: { name: 'Error', message } })
}

export function killProcess(): never {
  return process.kill(process.pid, 'SIGKILL') as never
}
