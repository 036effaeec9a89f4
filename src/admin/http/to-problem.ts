import { type ErrorCode, redactUrls } from '../../core/errors.ts'
import { isoTime } from '../../core/time.ts'
import type { Problem } from '../contract/problem.ts'
import { toKnown } from '../perform/to-known.ts'

/** Faults of one request that are listed. */
const MAX_FAULTS = 20

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
