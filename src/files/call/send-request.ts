import { AuthenticationError, FilesError, RateLimitError } from '../errors.ts'
import type { Secret } from '../secret.ts'
import { type ApiRequest, attempt, type Reply } from './attempt.ts'
import { type Call, type ClientParts, factsOf, noteAttempt, reasonOf } from './call.ts'
import { pauseBeforeResend } from './pause-before-resend.ts'

/** How often one request may be given another key. */
const MAX_NEW_KEYS = 2

/**
 * Sends a request until it is answered or may not be sent again; every attempt is noted in `call`.
 */
export async function sendRequest(wire: ClientParts, call: Call, request: ApiRequest): Promise<Reply> {
  let key = await wire.keys.take(factsOf(call))
  let newKeys = 0
  let waitedMs = 0
  let unreadable = 0
  for (let tries = 1; ; ) {
    const tried = await tryOnce(wire, call, { request, key, waitedMs })
    if (!(tried instanceof FilesError)) return tried
    if (tried instanceof AuthenticationError) {
      const next = await wire.keys.replace(key, factsOf(call))
      if (next === null || ++newKeys > MAX_NEW_KEYS) throw tried
      key = next
      waitedMs = 0
    } else {
      if (reasonOf(tried) === 'unreadable') unreadable++
      waitedMs = await pauseBeforeResend(wire, call, { error: tried, resend: request.resend, tries, unreadable })
      tries++
    }
  }
}

/**
 * One attempt from its place under the limit to its reply. A failure is a value here: the caller
 * decides on it.
 */
async function tryOnce(
  wire: ClientParts,
  call: Call,
  { request, key, waitedMs }: { request: ApiRequest; key: Secret; waitedMs: number },
): Promise<Reply | FilesError> {
  const { clock } = wire.settings
  const limiter = wire.limiterOf(key)
  const queuedAt = clock.now()
  const { isProbe } = await enterLimiter(wire, call, key)
  const startedAt = clock.now()
  const { outcome, status, limit } = await attempt(wire, call, { request, key })
  const isFailed = outcome instanceof FilesError
  const blockedUntil = outcome instanceof RateLimitError ? outcome.retryAt : null
  await limiter.report({ isProbe, isAnswered: status !== null, blockedUntil, limit })
  if (!isFailed) wire.quota.reward()
  const reason = isFailed ? reasonOf(outcome) : 'ok'
  noteAttempt(wire, call, { status, startedAt, waitedMs: waitedMs + startedAt - queuedAt, reason })
  return outcome
}

function enterLimiter(wire: ClientParts, call: Call, key: Secret): Promise<{ isProbe: boolean }> {
  const { clock, retry } = wire.settings
  const { operation, service } = call
  return wire.limiterOf(key).enter({
    priority: call.priority,
    signal: call.signal,
    latestAt: Math.min(clock.now() + retry.maxWaitMs, call.deadlineAt),
    facts: factsOf(call),
    onWait: (until) => wire.log({ kind: 'wait', operation, service, until, reason: 'limit' }),
  })
}
