import type { Caller } from '../../core/notices.ts'
import type { StorageName } from '../../core/service/storage.ts'
import {
  type AttemptRecord,
  type ErrorFacts,
  type FilesError,
  type Operation,
  ProtocolError,
  TimeoutError,
} from '../errors.ts'
import type { Limiter } from '../limit/limiter.ts'
import type { Priority } from '../limit/limiter-store.ts'
import type { ClientParts } from './client-parts.ts'
import type { ResendPolicy } from './decide-resend.ts'

/** One call of the caller, however many requests it takes. */
export interface Call {
  operation: Operation
  service: StorageName
  /** Aborts when the caller's signal does, or when the client stops. */
  signal: AbortSignal
  priority: Priority
  /** Epoch milliseconds. */
  startedAt: number
  /** Bound of the whole call in milliseconds; of a download, of the time without any byte. */
  totalMs: number
  /** Epoch milliseconds: no request begins and no pause lasts beyond it. */
  deadlineAt: number
  policy: ResendPolicy
  /** The step that makes the call; undefined outside a run. */
  caller: Caller | undefined
  /** The requests so far. */
  attempts: AttemptRecord[]
  /** The start that the last request keeps for the next one. Default: none. */
  kept?: KeptStart | undefined
}

/** A start under the limit of a key, taken at `at` in epoch milliseconds. */
interface KeptStart {
  limiter: Limiter
  at: number
}

export function factsOf(call: Call): ErrorFacts {
  return { operation: call.operation, service: call.service, attempts: call.attempts }
}

/**
 * Limits a part of a call in time. The signal aborts with the call's, or with `TimeoutError`: after
 * `ms`, or at the deadline of the call.
 */
export function limitTime(
  { settings: { clock } }: ClientParts,
  call: Call,
  ms = Infinity,
): { signal: AbortSignal; done: () => void } {
  const timeout = new AbortController()
  const now = clock.now()
  const longestMs = Math.min(ms, call.deadlineAt - now)
  const done = clock.at(now + longestMs, () =>
    timeout.abort(new TimeoutError(`No complete reply within ${longestMs} ms.`, factsOf(call))),
  )
  return { signal: AbortSignal.any([call.signal, timeout.signal]), done }
}

/** Adds an attempt to the call's record and to the log. */
export function noteAttempt(
  parts: ClientParts,
  call: Call,
  tried: Omit<AttemptRecord, 'n' | 'ms'> & { startedAt: number },
): void {
  const { startedAt, ...rest } = tried
  const record = { n: call.attempts.length + 1, ms: parts.settings.clock.now() - startedAt, ...rest }
  call.attempts.push(record)
  parts.log({ kind: 'attempt', operation: call.operation, service: call.service, ...record })
}

/** The `reason` of a failed attempt. */
export function reasonOf(error: FilesError): string {
  if (error instanceof ProtocolError && error.retryable) return 'unreadable'
  return error.code ?? error.name
}
