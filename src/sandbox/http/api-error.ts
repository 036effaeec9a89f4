import type { ErrorRequestHandler, Request } from 'express'
import { ZodError } from 'zod'
import { describeError, UpshotError } from '../../core/errors.ts'
import type { Log } from '../options.ts'
import { type WireError, type WireForm, wrapError } from './wire-form.ts'

/** A refusal of the Files API, in the service's words. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly wire: WireError

  constructor(status: number, code: string, message: string, details: Record<string, string> = {}) {
    super(message)
    this.wire = { status, code, message, details }
  }
}

/** What a client is told of any thrown value. */
export function toWireError(error: unknown): WireError {
  if (error instanceof ApiError) return error.wire
  if (error instanceof ZodError) return ofZod(error)
  if (error instanceof UpshotError) return ofUpshot(error)
  if (isHttpError(error)) return { status: error.status, code: 'invalid_request', message: error.message, details: {} }
  return { status: 500, code: 'service_error', message: 'The service failed.', details: {} }
}

function ofZod(error: ZodError): WireError {
  const [issue] = error.issues
  const parameter = issue?.path.join('.') || 'body'
  return {
    status: 400,
    code: 'invalid_request',
    message: `The parameter "${parameter}" is missing or invalid: ${issue?.message ?? 'unreadable'}.`,
    details: { parameter },
  }
}

function ofUpshot(error: UpshotError): WireError {
  const code =
    error.code === 'not_found' ? 'resource_not_found' : error.status < 500 ? 'invalid_request' : 'service_error'
  return { status: error.status, code, message: error.message, details: {} }
}

function isHttpError(error: unknown): error is Error & { status: number } {
  return error instanceof Error && 'status' in error && typeof error.status === 'number' && error.status < 500
}

/** A failure of our own is worth a line; a refusal of a caller is not. */
export function reportFailure(log: Log, error: unknown): void {
  if (error instanceof ApiError || toWireError(error).status < 500) return
  log({ msg: 'sandbox failed', error: describeError(error) })
}

/**
 * Points of the specification on which any refusal rests: codes, their statuses and what is in
 * `details`.
 */
export const REFUSAL_ASSUMES = ['N2', 'N8', 'N17'] as const

export interface RefusalOptions {
  /** Default: always the primary one. */
  formOf?: (request: Request) => WireForm
  /**
   * Points of the specification on which the refusals of this server rest; default
   * {@link REFUSAL_ASSUMES}.
   */
  assumes?: readonly string[]
}

/** Answers what was thrown. */
export function answerErrors(
  log: Log,
  { formOf = () => 'primary', assumes = REFUSAL_ASSUMES }: RefusalOptions = {},
): ErrorRequestHandler {
  return (error, request, response, next) => {
    // Whoever hung up, or was hung up on by a stop, is not waiting for an answer.
    if (response.destroyed) return
    reportFailure(log, error)
    if (response.headersSent) return next(error)
    const wire = toWireError(error)
    response.set('X-Sandbox-Assumed', assumes.join(','))
    response.status(wire.status).json(wrapError(formOf(request), wire))
  }
}

const BY_STATUS = new Map([
  [401, { code: 'authentication_error', message: 'The API key is missing, unknown, expired or revoked.' }],
  [403, { code: 'permission_denied', message: "This key's scope does not cover the operation." }],
  [404, { code: 'resource_not_found', message: 'There is no such resource.' }],
  [429, { code: 'rate_limit_exceeded', message: 'Too many requests. Wait, then go on.' }],
])

/** The error that belongs to a status where nothing more is to be said. */
export function errorOfStatus(status: number): ApiError {
  const fallback =
    status < 500
      ? { code: 'invalid_request', message: 'The request is invalid.' }
      : { code: 'service_error', message: 'The storage service failed. Try again later.' }
  const { code, message } = BY_STATUS.get(status) ?? fallback
  return new ApiError(status, code, message)
}
