import type { ErrorRequestHandler, Request } from 'express'
import { ZodError } from 'zod'
import { describeError, UpshotError } from '../../core/errors.ts'
import type { Log } from '../options.ts'
import { type WireError, type WireForm, wrapError } from './wire-form.ts'

/** A refusal by the Files API, with the service's error code. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly wire: WireError

  constructor(status: number, code: string, message: string, details: Record<string, string> = {}) {
    super(message)
    this.wire = { status, code, message, details }
  }
}

/** The reply to a thrown value. Unknown errors become a 500 without details. */
export function toWireError(error: unknown): WireError {
  if (error instanceof ApiError) return error.wire
  if (error instanceof ZodError) return ofZod(error)
  if (error instanceof UpshotError) return ofUpshot(error)
  if (isHttpError(error)) return { status: error.status, code: 'invalid_request', message: error.message, details: {} }
  const cause = findDiskFault(error)
  const message = cause === null ? 'The service failed.' : `The storage cannot be read or written: ${cause}.`
  return { status: 500, code: 'service_error', message, details: {} }
}

/** The cause of an error of the disk, without its path; null for any other error. */
function findDiskFault(error: unknown): string | null {
  const isOfDisk = error instanceof Error && 'code' in error && 'syscall' in error && 'path' in error
  return isOfDisk ? (/^(E[A-Z]+: [^,]+),/.exec(error.message)?.[1] ?? String(error.code)) : null
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

/** Logs a failure of the sandbox. Refusals of a client are not logged. */
export function reportFailure(log: Log, error: unknown): void {
  if (error instanceof ApiError || toWireError(error).status < 500) return
  log({ msg: 'sandbox failed', error: describeError(error) })
}

/** Points of the specification that every refusal assumes: codes, statuses and `details`. */
export const REFUSAL_ASSUMES = ['N2', 'N8', 'N17'] as const

interface RefusalOptions {
  /** The form of the error body. Default always primary. */
  formOf?: (request: Request) => WireForm
  /** Points of the specification that the refusals assume. Default {@link REFUSAL_ASSUMES}. */
  assumes?: readonly string[]
}

/** The error handler of every server of the sandbox. */
export function answerErrors(
  log: Log,
  { formOf = () => 'primary', assumes = REFUSAL_ASSUMES }: RefusalOptions = {},
): ErrorRequestHandler {
  return (error, request, response, next) => {
    // The client hung up, or a stop cut it off: nobody reads an answer.
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
  [429, { code: 'rate_limit_exceeded', message: 'Too many requests. Wait and try again.' }],
])

export function errorOfStatus(status: number): ApiError {
  const fallback =
    status < 500
      ? { code: 'invalid_request', message: 'The request is invalid.' }
      : { code: 'service_error', message: 'The storage service failed. Try again later.' }
  const { code, message } = BY_STATUS.get(status) ?? fallback
  return new ApiError(status, code, message)
}
