import { RetryAt } from '../../../core/runs/retry.ts'
import { coversEffect, describeScope } from '../../../core/safety/stop.ts'
import type { Pass } from '../../pass/pass.ts'
import { sourceOf } from './ask-guard.ts'

/** The step asks again after this long, and the guard then holds it until the stop ends. */
const ASK_AGAIN_MS = 50

/** Throws where a stop has come since the delete got its permit, such as while it waited. */
export async function refuseStopped(pass: Pass, target: string): Promise<void> {
  const source = sourceOf(pass, { target })
  const stop = (await pass.store.listStops()).find((each) => coversEffect(each, source))
  if (stop === undefined) return
  throw new RetryAt(pass.clock.now() + ASK_AGAIN_MS, `${describeScope(stop)} are stopped: ${stop.reason}`)
}
