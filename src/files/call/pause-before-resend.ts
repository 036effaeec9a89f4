import { waitUntil } from '../../core/time.ts'
import type { FilesError } from '../errors.ts'
import type { Call } from './call.ts'
import type { ClientParts } from './client-parts.ts'
import { decideResend, type Resend } from './decide-resend.ts'

/** A failed attempt, and how many there were. */
interface Tried {
  error: FilesError
  resend: Resend
  /** Attempts so far. */
  tries: number
  /** Attempts whose body could not be read. */
  unreadable: number
}

/**
 * Waits until the request may be sent again; resolves to the pause in milliseconds. Throws the
 * attempt's error when it may not.
 */
export async function pauseBeforeResend(parts: ClientParts, call: Call, tried: Tried): Promise<number> {
  const { clock, random } = parts.settings
  const now = clock.now()
  const decision = decideResend({ ...tried, policy: call.policy, now, deadlineAt: call.deadlineAt, random: random() })
  if (decision.kind === 'give_up') throw tried.error
  // A 429 costs no quota: it is a request to wait, not a failure.
  if (!decision.isThrottled && !parts.quota.take()) throw tried.error
  const { operation, service } = call
  parts.log({ kind: 'wait', operation, service, until: decision.at, reason: tried.error.name })
  await waitUntil(clock, decision.at, call.signal)
  return clock.now() - now
}
