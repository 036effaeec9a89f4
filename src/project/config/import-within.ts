import { url as debuggerUrl } from 'node:inspector'
import { relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { describeError, UpshotError } from '../../core/errors.ts'
import { describeLoadFault } from '../load-fault.ts'
import type { LoopWatch } from './break-loop.ts'

/** After the time is over, a timer of a thread that is not blocked comes within this. */
const GRACE_MS = 1_000
/** The place of a loop comes in a message of the other thread, which the loop held up. */
const MESSAGE_MS = 200

/**
 * Imports a module of the author's into this thread. Throws `invalid_config` where it throws or
 * takes longer. The error has the line of a loop without end, which another thread breaks. A
 * debugger may take its time.
 */
export async function importWithin<Module>(path: string, ms: number): Promise<Module> {
  const { href } = pathToFileURL(path)
  if (debuggerUrl()) return import(href)
  const isOver = new Int32Array(new SharedArrayBuffer(4))
  const late = Promise.withResolvers<never>()
  let place: string | null = null
  const workerData: LoopWatch = { isOver, afterMs: ms + GRACE_MS }
  const watch = new Worker(new URL(import.meta.url.replace(/import-within(\.\w+)$/, 'break-loop$1')), { workerData })
  watch.unref()
  watch.on('message', (found: { url: string; line: number }) => {
    if (found.url.startsWith('file:')) place = `${relative(process.cwd(), fileURLToPath(found.url))}:${found.line}`
  })
  watch.on('error', () => {})
  const timer = setTimeout(() => late.reject(null), ms)
  try {
    return await Promise.race([import(href), late.promise])
  } catch (error) {
    if (error !== null) {
      const fault = describeLoadFault(describeError(error))
      throw new UpshotError('invalid_config', `${path} cannot be loaded: ${fault}`, { cause: error })
    }
    const isBroken = Atomics.load(isOver, 0) !== 0
    if (isBroken) await sleep(MESSAGE_MS)
    const where = isBroken
      ? `It loops${place === null ? '' : ` at ${place}`}`
      : 'It waits for something that never comes'
    throw new UpshotError('invalid_config', `${path} did not load within ${ms / 1_000} s. ${where}.`)
  } finally {
    clearTimeout(timer)
    Atomics.store(isOver, 0, 1)
    void watch.terminate()
  }
}
