import { waitUntil } from '../../core/time.ts'
import { RateLimitError } from '../errors.ts'
import type { Call } from './call.ts'
import type { ClientParts } from './client-parts.ts'
import { decideResend, type Tried } from './decide-resend.ts'

/**
 * Waits until the request may be sent again; resolves to the pause in milliseconds. Throws the
 * attempt's error when it may not.
 */
export async function pauseBeforeResend(parts: ClientParts, call: Call, tried: Tried): Promise<number> {
  const { clock, random } = parts.settings
  const now = clock.now()
  const at = decideResend(tried, { policy: call.policy, now, deadlineAt: call.deadlineAt, random: random() })
  // A 429 costs no quota: it is a request to wait, not a failure.
  const isFree = tried.error instanceof RateLimitError
  if (at === null || !(isFree || parts.quota.take())) throw tried.error
  const { operation, service } = call
  parts.log({ kind: 'wait', operation, service, until: at, reason: tried.error.name })
  await waitUntil(clock, at, call.signal)
  return clock.now() - now
}
