import { describeError } from '../../core/errors.ts'
import { unlessAborted } from '../../core/thenable.ts'
import { AuthenticationError, FilesError, RateLimitError } from '../errors.ts'
import type { Limiter } from '../limit/limiter.ts'
import type { Priority } from '../limit/limiter-store.ts'
import type { Secret } from '../secret.ts'
import { type ApiRequest, attempt, type Reply } from './attempt.ts'
import { type Call, factsOf, limitTime, noteAttempt, reasonOf } from './call.ts'
import type { ClientParts } from './client-parts.ts'
import { pauseBeforeResend } from './pause-before-resend.ts'

/** The largest number of other keys that one request tries. */
const MAX_NEW_KEYS = 2

/** Sends a request until it is answered or must not be sent again. `call` has every attempt. */
export async function sendRequest(parts: ClientParts, call: Call, request: ApiRequest): Promise<Reply> {
  const priority = request.priority ?? call.priority
  let key = parts.keys.current ?? (await inTime(parts, call, parts.keys.take(factsOf(call))))
  let newKeys = 0
  let waitedMs = 0
  let unreadable = 0
  for (let tries = 1; ; ) {
    const tried = await tryInTurn(parts, call, { request, key, priority, waitedMs })
    if (!(tried instanceof FilesError)) return tried
    if (tried instanceof AuthenticationError) {
      const next = await inTime(parts, call, parts.keys.replace(key, factsOf(call)))
      if (next === null || ++newKeys > MAX_NEW_KEYS) {
        const { message, status, code, details, requestId } = tried
        throw parts.keys.allRefused(message, { ...factsOf(call), status, code, details, requestId })
      }
      key = next
      waitedMs = 0
    } else {
      if (reasonOf(tried) === 'unreadable') unreadable++
      if (request.once) throw tried
      waitedMs = await pauseBeforeResend(parts, call, { error: tried, tries, unreadable })
      tries++
    }
  }
}

interface Try {
  request: ApiRequest
  key: Secret
  priority: Priority
  waitedMs: number
}

/** The time of the call stands still while others are in flight. */
function tryInTurn(parts: ClientParts, call: Call, given: Try): Promise<Reply | FilesError> {
  const { clock } = parts.settings
  const askedAt = clock.now()
  return parts.semaphoreOf(call.service, given.priority).run(call.signal, () => {
    call.deadlineAt += Math.max(0, clock.now() - askedAt)
    return tryOnce(parts, call, given)
  })
}

/** Waits for the limit, then sends the request once. A failure is returned, not thrown. */
async function tryOnce(parts: ClientParts, call: Call, given: Try): Promise<Reply | FilesError> {
  const { request, key, priority, waitedMs } = given
  const { clock } = parts.settings
  const queuedAt = clock.now()
  const { isProbe } = await enterLimiter(parts, call, { pair: request.pair, limiter: parts.limiterOf(key), priority })
  try {
    if (request.beforeSend) await unlessAborted(request.beforeSend(), call.signal)
  } catch (error) {
    await report(parts, call, key, { isProbe, isAnswered: false, blockedUntil: null, limit: null })
    throw error
  }
  const startedAt = clock.now()
  const { outcome, status, limit } = await attempt(parts, call, { request, key })
  const isFailed = outcome instanceof FilesError
  const blockedUntil = outcome instanceof RateLimitError ? outcome.retryAt : null
  await report(parts, call, key, { isProbe, isAnswered: status !== null, blockedUntil, limit })
  if (!isFailed) parts.quota.reward()
  const reason = isFailed ? reasonOf(outcome) : 'ok'
  noteAttempt(parts, call, { status, startedAt, waitedMs: waitedMs + startedAt - queuedAt, reason })
  return outcome
}

/** The reply counts, whether or not the store takes what it says of the limit. */
async function report(
  parts: ClientParts,
  { service }: Call,
  key: Secret,
  told: Parameters<Limiter['report']>[0],
): Promise<void> {
  const warn = (error: unknown) => {
    const message = `The limit that a reply told of could not be kept: ${describeError(error).message}`
    parts.log({ kind: 'warning', service, message })
  }
  await parts.limiterOf(key).report(told).catch(warn)
}

async function enterLimiter(
  parts: ClientParts,
  call: Call,
  { pair, limiter, priority }: Pick<ApiRequest, 'pair'> & { limiter: Limiter; priority: Priority },
): Promise<{ isProbe: boolean }> {
  const { clock, retry } = parts.settings
  const { operation, service, kept } = call
  if (kept !== undefined && pair === 'act' && kept.limiter === limiter) {
    call.kept = undefined
    if (await limiter.startKept(kept.at)) return { isProbe: false }
  }
  await giveBack(call)
  const { isProbe, keptAt } = await limiter.enter({
    priority,
    isFollowed: pair === 'look',
    signal: call.signal,
    latestAt: Math.min(clock.now() + retry.maxWaitMs, call.deadlineAt),
    facts: factsOf(call),
    onWait: (until) => parts.log({ kind: 'wait', operation, service, until, reason: 'limit' }),
  })
  if (keptAt !== null) call.kept = { limiter, at: keptAt }
  return { isProbe }
}

/** Gives back the start that a look kept, where nothing follows the look. */
export async function giveBack(call: Call): Promise<void> {
  const { kept } = call
  call.kept = undefined
  await kept?.limiter.giveBack(kept.at)
}

/** A function that gives the key may hang: the call still ends in its time. */
async function inTime<T>(parts: ClientParts, call: Call, asking: Promise<T>): Promise<T> {
  const { signal, done } = limitTime(parts, call)
  try {
    return await unlessAborted(asking, signal)
  } finally {
    done()
  }
}
