import type { StorageName } from '../core/service/storage.ts'

/** What the client was asked to do when it failed. */
export type Operation = 'list' | 'find' | 'get' | 'download_url' | 'download' | 'hash' | 'delete'

/** One request of a call, as it is shown to people. */
export interface AttemptRecord {
  /** Counted from 1. */
  n: number
  /** Null when no reply came. */
  status: number | null
  ms: number
  /** Pause before this attempt. */
  waitedMs: number
  /** `ok`, the service's error code, or a word for what went wrong on the way. */
  reason: string
}

/**
 * What an error knows of its call. Never headers, never the key, never a download URL with its
 * query.
 */
export interface ErrorFacts {
  operation: Operation
  service: StorageName | null
  attempts?: readonly AttemptRecord[]
  status?: number | null
  code?: string | null
  details?: unknown
  requestId?: string | null
  retryAt?: number | null
  cause?: Error
}

/** Every failed call. Its subclasses differ in what a caller does about them. */
export class FilesError extends Error {
  override readonly name: string = 'FilesError'
  /** Whether the same call may succeed later. */
  readonly retryable: boolean = false
  readonly operation: Operation
  readonly service: StorageName | null
  /** HTTP status of the last reply; null when there was none. */
  readonly status: number | null
  /** The service's own code, such as `resource_not_found`. */
  readonly code: string | null
  /** As the service sent it; an object in one form, text in the other. */
  readonly details: unknown
  readonly requestId: string | null
  readonly attempts: readonly AttemptRecord[]
  /**
   * Epoch milliseconds before which the service does not want to see this call again; null where it
   * named no moment.
   */
  readonly retryAt: number | null

  constructor(message: string, facts: ErrorFacts) {
    super(message, facts.cause === undefined ? {} : { cause: facts.cause })
    this.operation = facts.operation
    this.service = facts.service
    this.status = facts.status ?? null
    this.code = facts.code ?? null
    this.details = facts.details ?? null
    this.requestId = facts.requestId ?? null
    this.attempts = facts.attempts ?? []
    this.retryAt = facts.retryAt ?? null
  }
}

/** 401: the key is wrong, revoked or expired. Give the client another one. */
export class AuthenticationError extends FilesError {
  override readonly name = 'AuthenticationError'
  override readonly retryable: boolean

  /** `retryable`: no key was refused, it could only not be had right now. */
  constructor(message: string, facts: ErrorFacts & { retryable?: boolean }) {
    super(message, facts)
    this.retryable = facts.retryable ?? false
  }
}

/** 403: the key's scope does not cover this call. */
export class PermissionError extends FilesError {
  override readonly name = 'PermissionError'
}

/** 400 and its relatives, or refused here before anything was sent. Mend the call. */
export class InvalidRequestError extends FilesError {
  override readonly name = 'InvalidRequestError'
}

/**
 * 404: there is no such entry. `code` is null when the reply was not the service's own, such as a
 * proxy's page.
 */
export class NotFoundError extends FilesError {
  override readonly name = 'NotFoundError'
}

/** 429: the service's limit is used up until `retryAt`. */
export class RateLimitError extends FilesError {
  override readonly name = 'RateLimitError'
  override readonly retryable = true
  override readonly retryAt: number
  /** Requests per minute and requests left, where the service said so. */
  readonly limit: number | null
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
 * Nothing was sent: our own limiter has no place before `retryAt`, and that is longer than a call
 * may wait.
 */
export class LocalRateLimitError extends FilesError {
  override readonly name = 'LocalRateLimitError'
  override readonly retryable = true
  override readonly retryAt: number

  constructor(message: string, facts: ErrorFacts & { retryAt: number }) {
    super(message, facts)
    this.retryAt = facts.retryAt
  }
}

/** The storage behind the service failed, not the service itself. */
export class UpstreamError extends FilesError {
  override readonly name = 'UpstreamError'
  override readonly retryable = true
}

/** Any other 5xx, 408 and 425, and a failure reported without a code that we know. */
export class ServerError extends FilesError {
  override readonly name = 'ServerError'
  override readonly retryable = true
}

/** A reply that is no answer: not JSON, cut off, or without what this call needs. */
export class ProtocolError extends FilesError {
  override readonly name = 'ProtocolError'
  override readonly retryable: boolean

  /** `unreadable`: no JSON at all, which another attempt may mend; a wrong shape stays wrong. */
  constructor(message: string, facts: ErrorFacts & { unreadable?: boolean }) {
    super(message, facts)
    this.retryable = facts.unreadable ?? false
  }
}

/** No connection, or it broke before the reply was complete. */
export class ConnectionError extends FilesError {
  override readonly name = 'ConnectionError'
  override readonly retryable = true
}

/** An attempt, or the whole call, took longer than it may. */
export class TimeoutError extends FilesError {
  override readonly name = 'TimeoutError'
  override readonly retryable = true
}

/** The connection stayed open, but no byte came for too long. */
export class StalledError extends FilesError {
  override readonly name = 'StalledError'
  override readonly retryable = true
}

/** The caller's signal, or `stop()`, ended the call. */
export class AbortedError extends FilesError {
  override readonly name = 'AbortedError'
  override readonly retryable = true
}
