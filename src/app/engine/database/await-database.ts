import { setTimeout as sleep } from 'node:timers/promises'
import { describeError } from '../../../core/errors.ts'
import type { Publish } from '../../../core/notices.ts'
import { mayPass } from '../../../store/shared-store.ts'

/** Pause before a database that did not answer is asked again, in milliseconds. */
const AGAIN_MS = 1_000

interface Waiting {
  publish: Publish
  /** True: a fault is thrown, whatever it is. */
  isOver: () => boolean
  /** Hears of each fault. */
  failed?: (error: unknown) => Promise<void>
}

/**
 * Begins again while the database is at fault and may be back; says so once. Throws other faults.
 */
export async function awaitDatabase<T>(begin: () => Promise<T>, { publish, isOver, failed }: Waiting): Promise<T> {
  for (let isTold = false; ; isTold = true) {
    try {
      return await begin()
    } catch (error) {
      if (isOver() || !mayPass(error)) throw error
      if (!isTold) publish({ kind: 'store.awaited', error: describeError(error) })
      await failed?.(error)
      await sleep(AGAIN_MS)
    }
  }
}
