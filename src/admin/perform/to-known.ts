import { ZodError } from 'zod'
import { type ErrorCode, redactUrls, UpshotError } from '../../core/errors.ts'
import { listIssues } from '../../core/json.ts'
import { isoTime } from '../../core/time.ts'
import type { Problem } from '../contract/route.ts'

/** Faults of one request that are listed. */
const MAX_FAULTS = 20

/** An error as every door tells it. One that nobody expected says nothing about itself. */
export function toKnown(error: unknown): UpshotError {
  if (error instanceof UpshotError) return error
  if (error instanceof ZodError) {
    const issues = listIssues(error.issues)
    const faults = issues.map(({ path, message }) => ({ at: path.join('.') || '(all)', fault: message }))
    const first = faults.slice(0, MAX_FAULTS).map(({ at, fault }) => `${at}: ${fault}`)
    return new UpshotError('invalid_request', `The request does not fit this operation. ${first.join('; ')}.`, {
      details: { faults },
    })
  }
  const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : null
  if (status === 413) return new UpshotError('body_too_large', 'The body is larger than this operation takes.')
  if (status === 400) return new UpshotError('invalid_request', 'The body is not JSON, or was cut short.')
  if (status === 415) return new UpshotError('invalid_request', 'Send the body as application/json in UTF-8.')
  return new UpshotError('internal', 'The request failed because of a fault in Upshot; its log has the error.')
}

/** Titles of the codes that an API answers often; others get their code as words. */
const TITLES: Partial<Record<ErrorCode, string>> = {
  invalid_request: 'The request is not valid',
  unauthenticated: 'Log in first',
  forbidden: 'Not allowed',
  not_found: 'Not found',
  conflict: 'It does not fit the present state',
  list_changed: 'The list has changed',
  misdirected: 'Unknown host name',
  too_many_requests: 'Too many requests',
  internal: 'A fault of Upshot',
}

/** The answer to a request that failed. An unexpected error tells nothing about itself. */
export function toProblem(error: unknown, request: string): Problem {
  const known = toKnown(error)
  const { code, status, details } = known
  const { fix, faults, retryAt } = details
  return {
    type: `urn:upshot:${code}`,
    title: TITLES[code] ?? code.replaceAll('_', ' '),
    status,
    detail: redactUrls(known.message),
    code,
    ...(typeof fix === 'string' ? { fix } : {}),
    ...(Array.isArray(faults) ? { errors: faults.slice(0, MAX_FAULTS) } : {}),
    ...(typeof retryAt === 'number' ? { retryAt: isoTime(retryAt) } : {}),
    request,
  }
}

/** True for an error that nobody expected, which the log should tell of. */
export function isUnexpected(error: unknown): boolean {
  const { code } = toKnown(error)
  return code === 'internal'
}
