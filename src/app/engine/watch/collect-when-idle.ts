import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** How often a thread looks at its own load, in milliseconds. */
const LOOK_MS = 5_000
/** Share of its time that an idle thread works at most. */
const IDLE_SHARE = 0.05

interface Thread {
  /** Share of the last look's time that this thread worked, from 0 to 1. */
  readLoad: () => number
  collect: () => void
}

/**
 * Frees what this thread no longer needs, after its start and after each burst of work. V8 would
 * keep that memory until it needs more, which an idle process never does. A collection takes 50 to
 * 100 ms, so it waits until the thread has been idle for 10 s. Returns what ends it.
 */
export function collectWhenIdle({ readLoad, collect }: Thread = ownThread()): () => void {
  let idleLooks = 0
  const timer = setInterval(() => {
    idleLooks = readLoad() <= IDLE_SHARE ? idleLooks + 1 : 0
    if (idleLooks !== 2) return
    collect()
    // The collection itself is no work that would call for another one.
    readLoad()
  }, LOOK_MS)
  timer.unref()
  return () => clearInterval(timer)
}

function ownThread(): Thread {
  let last = process.threadCpuUsage()
  const readLoad = () => {
    const { user, system } = process.threadCpuUsage(last)
    last = process.threadCpuUsage()
    return (user + system) / 1_000 / LOOK_MS
  }
  return { readLoad, collect: collectGarbage }
}

/** Collects all garbage of this thread, and gives what is free back to the system. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')({ type: 'major', flavor: 'last-resort' })
}
