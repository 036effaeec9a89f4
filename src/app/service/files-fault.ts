import { describeError, type ErrorCode, UpshotError } from '../../core/errors.ts'
import { RetryAt } from '../../core/runs/retry.ts'
import type * as Files from '../../files/index.ts'

type FilesErrorName = Extract<keyof typeof Files, `${string}Error`>

/** Keyed by name, so that nobody loads the client only for its errors. */
const CODES: Record<FilesErrorName, readonly [code: ErrorCode, fix: string | null]> = {
  FilesError: ['service_failed', null],
  AuthenticationError: ['service_failed', 'Set a valid API key: the service rejects the one of this account.'],
  PermissionError: ['service_failed', 'Use an API key whose scope covers this call.'],
  InvalidRequestError: ['invalid_request', null],
  NotFoundError: ['not_found', 'List the parent folder: it may have been moved or deleted.'],
  RateLimitError: ['too_many_requests', 'Wait until the service accepts calls again.'],
  LocalRateLimitError: [
    'too_many_requests',
    'Workflows share the limit of the account: wait until it allows one more call.',
  ],
  UpstreamError: ['service_failed', null],
  ServerError: ['service_failed', null],
  ProtocolError: ['service_failed', 'Check the address of the service: it does not answer like the Files API.'],
  ConnectionError: ['service_failed', 'Check the address of the service and the network.'],
  TimeoutError: ['service_failed', null],
  StalledError: ['service_failed', null],
  AbortedError: ['draining', null],
}

/** The same fault as an error of ours. One that is no fault of a call stays as it is. */
export function toFilesFault(error: unknown): unknown {
  if (error instanceof RetryAt) {
    return new UpshotError('service_failed', error.message, { details: { retryAt: error.moment } })
  }
  if (!(error instanceof Error) || !Object.hasOwn(CODES, error.name)) return error
  const [code, fix] = CODES[error.name as FilesErrorName]
  const retryAt = 'retryAt' in error && typeof error.retryAt === 'number' ? { retryAt: error.retryAt } : {}
  const details = { ...(fix === null ? {} : { fix }), ...retryAt }
  return new UpshotError(code, describeError(error).message, { cause: error, details })
}
