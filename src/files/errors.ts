import type { StorageName } from '../core/service/storage.ts'

/** The client's operation that failed. */
export type Operation = 'list' | 'find' | 'get' | 'download_url' | 'download' | 'hash' | 'delete'

/** One request of a call, for people to read. */
export interface AttemptRecord {
  /** Counts from 1. */
  n: number
  /** HTTP status; null when no reply came. */
  status: number | null
  /** Milliseconds from the request to the end of its reply. */
  ms: number
  /** Milliseconds waited before this attempt: the pause, and the queue for the limit. */
  waitedMs: number
  /** `ok`, the service's error code, or the name of the failure. */
  reason: string
}

/** Facts about the failed call. They never hold headers, the API key, or a download URL's query. */
export interface ErrorFacts {
  operation: Operation
  service: StorageName | null
  attempts?: readonly AttemptRecord[]
  status?: number | null
  code?: string | null
  details?: unknown
  requestId?: string | null
  retryAt?: number | null
  contentType?: string | null
  contentEncoding?: string | null
  cause?: Error
}

/** Base class of every error of a failed call. Each subclass needs another reaction. */
export class FilesError extends Error {
  override readonly name: string = 'FilesError'
  /** True when the same call may succeed later. */
  readonly retryable: boolean
  readonly operation: Operation
  /** Null when the call named no known storage. */
  readonly service: StorageName | null
  /** HTTP status of the last reply; null when there was none. */
  readonly status: number | null
  /** The service's own code, such as `resource_not_found`; null when it sent none. */
  readonly code: string | null
  /** The service's details as it sent them: an object in one form, text in the other. */
  readonly details: unknown
  /** The id that the service gave this request; null when it sent none. */
  readonly requestId: string | null
  /** `Content-Type` of the reply; null when there was none. */
  readonly contentType: string | null
  /** `Content-Encoding` of the reply; null when there was none. */
  readonly contentEncoding: string | null
  /** Every request of the call, oldest first. */
  readonly attempts: readonly AttemptRecord[]
  /** Epoch milliseconds: do not repeat the call earlier. Null when no moment is known. */
  readonly retryAt: number | null

  /** `retryable` defaults to false. */
  constructor(message: string, facts: ErrorFacts & { retryable?: boolean }) {
    super(message, facts.cause === undefined ? {} : { cause: facts.cause })
    this.retryable = facts.retryable ?? false
    this.operation = facts.operation
    this.service = facts.service
    this.status = facts.status ?? null
    this.code = facts.code ?? null
    this.details = facts.details ?? null
    this.requestId = facts.requestId ?? null
    this.contentType = facts.contentType ?? null
    this.contentEncoding = facts.contentEncoding ?? null
    this.attempts = facts.attempts ?? []
    this.retryAt = facts.retryAt ?? null
  }
}

/**
 * 401: each key is wrong, revoked or expired; set another one. The same one is tried again at
 * `retryAt`, a minute later. It is null where a key could not be had or sent.
 */
export class AuthenticationError extends FilesError {
  override readonly name = 'AuthenticationError'
}

/** 403: the key's scope does not cover this call. Use a key with a wider scope. */
export class PermissionError extends FilesError {
  override readonly name = 'PermissionError'
}

/** 400 or another 4xx, or the client refused the call before sending it. Fix the call. */
export class InvalidRequestError extends FilesError {
  override readonly name = 'InvalidRequestError'
}

/**
 * The service itself says, by its `code`, that there is no such entry, route or storage. A 404
 * without a code, such as a proxy's page, is a `ProtocolError`.
 */
export class NotFoundError extends FilesError {
  override readonly name = 'NotFoundError'
}

/** 429: the service's limit is used up. Call again at `retryAt`. */
export class RateLimitError extends FilesError {
  override readonly name = 'RateLimitError'
  override readonly retryable = true
  /** Epoch milliseconds. */
  override readonly retryAt: number
  /** Requests per minute that the service allows; null when it did not say. */
  readonly limit: number | null
  /** Requests left in the service's window; null when it did not say. */
  readonly remaining: number | null

  constructor(
    message: string,
    facts: ErrorFacts & { retryAt: number; limit?: number | null; remaining?: number | null },
  ) {
    super(message, facts)
    this.retryAt = facts.retryAt
    this.limit = facts.limit ?? null
    this.remaining = facts.remaining ?? null
  }
}

/**
 * The client's own limiter cannot start the request within `retry.maxWait`; nothing was sent. Call
 * again at `retryAt`.
 */
export class LocalRateLimitError extends FilesError {
  override readonly name = 'LocalRateLimitError'
  override readonly retryable = true
  /** Epoch milliseconds. */
  override readonly retryAt: number

  constructor(message: string, facts: ErrorFacts & { retryAt: number }) {
    super(message, facts)
    this.retryAt = facts.retryAt
  }
}

/** 502 or `service_error`: the storage behind the service failed. Call again later. */
export class UpstreamError extends FilesError {
  override readonly name = 'UpstreamError'
  override readonly retryable = true
}

/** 408, 425, any other 5xx, or a failure reported with an unknown code. Call again later. */
export class ServerError extends FilesError {
  override readonly name = 'ServerError'
  override readonly retryable = true
}

/**
 * The reply or the file is not what this call needs, such as a wrong shape or size. Repeat the call
 * only if `retryable`: its body could not be read, or the service contradicts itself.
 */
export class ProtocolError extends FilesError {
  override readonly name = 'ProtocolError'
}

/** No connection, or it broke before the reply was complete. Call again later. */
export class ConnectionError extends FilesError {
  override readonly name = 'ConnectionError'
  override readonly retryable = true
}

/** An attempt exceeded `timeouts.attempt`, or the call its total time. Call again later. */
export class TimeoutError extends FilesError {
  override readonly name = 'TimeoutError'
  override readonly retryable = true
}

/** The connection stayed open, but sent no byte for `timeouts.stall`. Call again later. */
export class StalledError extends FilesError {
  override readonly name = 'StalledError'
  override readonly retryable = true
}

/** The caller's signal or `stop()` ended the call. Call again if you still want the result. */
export class AbortedError extends FilesError {
  override readonly name = 'AbortedError'
  override readonly retryable = true
}
