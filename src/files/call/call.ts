import type { StorageName } from '../../core/service/storage.ts'
import type { KeptHashes } from '../disk/kept-hashes.ts'
import { type AttemptRecord, type ErrorFacts, type FilesError, type Operation, ProtocolError } from '../errors.ts'
import type { Limiter } from '../limit/limiter.ts'
import type { Priority } from '../limit/limiter-store.ts'
import type { FilesLogLine } from '../log-line.ts'
import type { Secret } from '../secret.ts'
import type { ResendPolicy } from './decide-resend.ts'
import type { KeyRing } from './key-ring.ts'
import type { Settings } from './options.ts'
import type { RetryQuota } from './retry-quota.ts'

/** What all calls of one client share. */
export interface ClientParts {
  settings: Settings
  keys: KeyRing
  /** The service counts per key. */
  limiterOf: (key: Secret) => Limiter
  quota: RetryQuota
  /** Of downloads that were broken off. */
  partHashes: KeptHashes
  log: (line: FilesLogLine) => void
}

/** One call of the author's, however many requests it takes. */
export interface Call {
  operation: Operation
  service: StorageName
  /** Aborts with the caller's signal and with the client. */
  signal: AbortSignal
  priority: Priority
  startedAt: number
  /** The whole call with its pauses; of a download, the time without any bytes. */
  totalMs: number
  /** Moment after which nothing more is begun or waited for. */
  deadlineAt: number
  policy: ResendPolicy
  attempts: AttemptRecord[]
}

/** What a call can say about itself in an error. */
export function factsOf(call: Call): ErrorFacts {
  return { operation: call.operation, service: call.service, attempts: call.attempts }
}

/** Adds an attempt to the call's record, and to the log. */
export function noteAttempt(
  wire: ClientParts,
  call: Call,
  tried: Omit<AttemptRecord, 'n' | 'ms'> & { startedAt: number },
): void {
  const { startedAt, ...rest } = tried
  const record = { n: call.attempts.length + 1, ms: wire.settings.clock.now() - startedAt, ...rest }
  call.attempts.push(record)
  wire.log({ kind: 'attempt', operation: call.operation, service: call.service, ...record })
}

/** The word for an attempt's end. */
export function reasonOf(error: FilesError): string {
  if (error instanceof ProtocolError && error.retryable) return 'unreadable'
  return error.code ?? error.name
}
