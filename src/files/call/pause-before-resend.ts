import { waitUntil } from '../../core/time.ts'
import type { FilesError } from '../errors.ts'
import type { Call, ClientParts } from './call.ts'
import { decideResend, type Resend } from './decide-resend.ts'

/** What failed, and how often it has been tried. */
export interface Tried {
  error: FilesError
  resend: Resend
  tries: number
  /** How many tries brought an unreadable body. */
  unreadable: number
}

/**
 * Waits for the moment of another try and gives back the pause in milliseconds; throws the error
 * when there will be none.
 */
export async function pauseBeforeResend(wire: ClientParts, call: Call, tried: Tried): Promise<number> {
  const { clock, random } = wire.settings
  const now = clock.now()
  const decision = decideResend({ ...tried, policy: call.policy, now, deadlineAt: call.deadlineAt, random: random() })
  if (decision.kind === 'give_up') throw tried.error
  // Being told to wait costs nothing: it is the service's way, not its trouble.
  if (!decision.isThrottled && !wire.quota.take()) throw tried.error
  const { operation, service } = call
  wire.log({ kind: 'wait', operation, service, until: decision.at, reason: tried.error.name })
  await waitUntil(clock, decision.at, call.signal)
  return clock.now() - now
}
