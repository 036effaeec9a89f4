import { setTimeout as sleep } from 'node:timers/promises'
import type { Publish } from '../../../core/notices.ts'

/** For the log, and for answers on their way. */
const LAST_WORDS_MS = 250

/**
 * Ends this process at once. A thread that cannot be ended keeps its memory until then, and a stop
 * would wait for it for good.
 */
export async function endProcess(publish: Publish): Promise<never> {
  const message = 'Native code that fills the memory cannot be ended: the process ends, to be started again.'
  publish({ kind: 'fault', where: 'ending an engine', error: { name: 'Error', message } })
  await sleep(LAST_WORDS_MS)
  return process.kill(process.pid, 'SIGKILL') as never
}
